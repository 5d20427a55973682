import type { SandboxInfo } from '@vitto/contracts';
import type { ApiClient } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { commandLine } from './command-line.ts';
import { checkPart, fits, pickOne } from './resolve-task.ts';
import { toPlainLine } from './text/terminal-text.ts';

/**
 * The machine of an argument: an id, or a beginning or end of one that fits one machine only. Left out it is the only
 * one that is mine.
 * @throws CliError which lists them where there are several.
 */
export async function resolveMachine(api: ApiClient, argument: string | undefined): Promise<SandboxInfo> {
  if (argument !== undefined) checkPart(argument.toLowerCase(), 'machine');
  const { sandboxes } = await api.readSandboxes();
  if (argument !== undefined) {
    const part = argument.toLowerCase();
    const found = sandboxes.filter(({ id }) => fits(id, part));
    return pickOne(found, argument, 'machine', describe);
  }
  const { id: me } = await api.readSession();
  const [first, ...others] = sandboxes.filter(({ userId }) => userId === me);
  if (first === undefined) {
    throw new CliError(
      EXIT.usage,
      'machine.none',
      'You have no machine yet.',
      `One is made when a task first needs it, as in: ${commandLine('chat "which system is this?"')}`,
    );
  }
  if (others.length === 0) return first;
  throw new CliError(
    EXIT.usage,
    'cli.ambiguous-id',
    `You have ${others.length + 1} machines:\n${[first, ...others].map(describe).join('\n')}`,
    'Say which, by its id or a part of it.',
  );
}

function describe({ id, template, state }: SandboxInfo): string {
  return toPlainLine(`${id}  ${state}  ${template}`);
}
