import type { RunDependencies } from './run-dependencies.ts';

/**
 * Checks what is new in a list of allowed folders. What was allowed already stays as it is: a folder that is gone must
 * not stand in the way of a change.
 * @throws AppError naming the new folder at fault, or for a user who may allow none.
 */
export async function keepKnownPaths(
  runs: Pick<RunDependencies, 'resolveAllowedPaths'>,
  paths: string[],
  known: string[],
  userId: string,
): Promise<string[]> {
  const added = await runs.resolveAllowedPaths(
    paths.filter((path) => !known.includes(path)),
    userId,
  );
  return [...new Set([...paths.filter((path) => known.includes(path)), ...added])];
}
