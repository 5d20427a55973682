import type { Task } from '@vitto/contracts';
import { formatCost, formatDuration, formatTable, shortId } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

/** The sub-Vittos below a task, in the order they were deployed, theirs below them; a line each. */
export function describeSubVittos(all: readonly Task[], parentId: string): string[] {
  const rows = listBelow(all, parentId).map((task) => [
    `${'  '.repeat(task.depth - 1)}${task.round ?? '?'}.${(task.index ?? 0) + 1}`,
    task.role ?? 'agent',
    task.tier ?? 'in-process',
    describeState(task),
    formatDuration(task.spending.durationMs),
    formatCost(task.spending.costUsd),
    shortId(task.id),
    toPlainLine(task.title),
  ]);
  return formatTable(rows);
}

function listBelow(all: readonly Task[], parentId: string): Task[] {
  return all
    .filter((task) => task.parentId === parentId)
    .sort((a, b) => (a.round ?? 0) - (b.round ?? 0) || (a.index ?? 0) - (b.index ?? 0))
    .flatMap((task) => [task, ...listBelow(all, task.id)]);
}

/** A task may end by itself and say that it did not reach its goal. */
export function describeState({ state, success }: Task): string {
  return state === 'completed' && success === false ? 'completed, no success' : state;
}
