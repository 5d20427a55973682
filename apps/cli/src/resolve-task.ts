import type { Task } from '@vitto/contracts';
import type { ApiClient } from './api-client.ts';
import { CliError, EXIT } from './cli-error.ts';
import { commandLine } from './command-line.ts';
import { shortId } from './text/format.ts';
import { toPlainLine } from './text/terminal-text.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** How far back the list is searched: 10 pages of 200. */
const PAGES = 10;
/** The command that lists a kind of thing. */
const LISTS: Record<string, string> = { task: 'tasks', approval: 'approve', machine: 'vm ls' };

/** The whole id for a task argument: an id, or a beginning or end of one that fits one task only. */
export async function resolveTask(api: ApiClient, argument: string): Promise<string> {
  const part = argument.toLowerCase();
  if (UUID.test(part)) return part;
  checkPart(part, 'task');
  const found: Task[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const { items, nextCursor } = await api.listTasks({ limit: 200, ...(cursor === null ? {} : { cursor }) });
    found.push(...items.filter((task) => fits(task.id, part)));
    cursor = nextCursor;
    if (cursor === null) break;
  }
  const describe = (task: Task) => `${task.id}  ${task.state}  ${toPlainLine(task.title)}`;
  return pickOne(found, argument, 'task', describe).id;
}

/** Refuses what cannot be a part of an id. */
export function checkPart(part: string, what: string): void {
  if (/^[0-9a-f-]{4,36}$/.test(part)) return;
  throw new CliError(
    EXIT.usage,
    'cli.bad-id',
    `"${part}" is no id of a ${what}.`,
    `Give the whole id, or at least 4 characters of its beginning or end.`,
  );
}

export function fits(id: string, part: string): boolean {
  const bare = (text: string) => text.replaceAll('-', '');
  return bare(id).startsWith(bare(part)) || bare(id).endsWith(bare(part));
}

/** The one that fits. @throws CliError when there is none, or when there are several, which it lists. */
export function pickOne<T extends { id: string }>(
  found: T[],
  part: string,
  what: string,
  describe: (item: T) => string,
): T {
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  if (first === undefined) {
    throw new CliError(
      EXIT.usage,
      `${what}.not-found`,
      `There is no ${what} "${part}".`,
      `See them with "${commandLine(LISTS[what] ?? what)}".`,
    );
  }
  const list = found.slice(0, 10).map(describe).join('\n');
  throw new CliError(
    EXIT.usage,
    'cli.ambiguous-id',
    `"${part}" fits ${found.length} ${what}s:\n${list}`,
    `Give more of it, as ${shortId(first.id)}.`,
  );
}
