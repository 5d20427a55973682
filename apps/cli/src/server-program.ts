import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from './cli-error.ts';

/** A program of the server in this checkout. @throws CliError when it is not there. */
export function serverProgram(name: 'main' | 'doctor' | 'images' | 'vault'): string {
  const file = fileURLToPath(new URL(`../../server/src/${name}.ts`, import.meta.url));
  if (existsSync(file)) return file;
  throw new CliError(
    EXIT.usage,
    'cli.no-server',
    `There is no server beside this vitto (${file}).`,
    'Run it from a whole checkout of Vitto.',
  );
}

/**
 * Becomes the server: same process, same terminal, same signals, and its exit code is ours. Does not return.
 * `variables` are set over the environment.
 */
export function becomeServer(
  environment: NodeJS.ProcessEnv,
  variables: Record<string, string | undefined>,
  args: string[],
): never {
  const program = serverProgram('main');
  const all = Object.entries({ ...environment, ...variables });
  const set = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
  if (process.execve === undefined) {
    throw new CliError(
      EXIT.usage,
      'cli.old-node',
      `Node ${process.version} is too old.`,
      'Use the Node 24 of this checkout, which "npm start" and "npm run vitto" choose by themselves.',
    );
  }
  return process.execve(process.execPath, [process.execPath, program, ...args], set);
}
