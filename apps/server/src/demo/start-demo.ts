import { AppError } from '../kernel/app-error.ts';
import { createRun, type RunDependencies } from '../runs/index.ts';
import { DEMO_SCRIPT, DEMO_VM, prepareDemo } from './prepare-demo.ts';

export interface DemoDependencies {
  runs: RunDependencies;
  /** Where the fetched project is kept. */
  cache: string;
  probeSandbox: () => Promise<{ available: boolean; reason: string | null; hint: string | null }>;
}

/**
 * Starts the demo as a task of a user and gives the task's id: the scripted model, whatever models are set up; the
 * rest is as for any task. The copy of the project is swept by a later demo.
 * @throws AppError `demo.no-sandbox` where its commands could not run, or what fetching the project is refused for.
 */
export async function startDemo(
  deps: DemoDependencies,
  by: { userId: string; source: string },
): Promise<string> {
  const { available, reason, hint } = await deps.probeSandbox();
  if (!available) throw noSandbox(reason, hint);
  const demo = await prepareDemo(deps.cache);
  try {
    const { taskId } = await createRun(deps.runs, {
      ...by,
      text: demo.prompt,
      title: demo.title,
      model: `script:${DEMO_SCRIPT}`,
      allowedPaths: [demo.folder],
      ...DEMO_VM,
      // It does its job at once, saying so, where the image it needs has not been built.
      mayDegrade: true,
    });
    return taskId;
  } catch (error) {
    await demo.remove();
    throw error;
  }
}

/** The demo runs real commands, so without a sandbox there is none. */
export function noSandbox(reason: string | null, hint: string | null): AppError {
  const why = reason?.replace(/^The /, 'the ') ?? 'it does not work here.';
  return new AppError('demo.no-sandbox', `The demo needs the sandbox: ${why}`, {
    status: 503,
    ...(hint === null ? {} : { hint }),
  });
}
