import { isEndState, type Task, type TaskState } from '@vitto/contracts';

export const FILTERS = ['all', 'running', 'waiting', 'queued', 'finished', 'failed'] as const;
export type Filter = (typeof FILTERS)[number];

export type AgentRow =
  | { kind: 'heading'; key: string; part: 'active' | 'today' | 'earlier'; count: number }
  | { kind: 'task'; key: string; task: Task; level: number };

export function fitsFilter(filter: Filter, state: TaskState): boolean {
  if (filter === 'all') return true;
  if (filter === 'waiting') return state.startsWith('waiting');
  if (filter === 'finished') return isEndState(state);
  return state === filter;
}

/**
 * Who is at work as a tree, the newest task first and its agents below it in the order in which they began; then what
 * has ended, the latest end first, that of today apart. With a filter the list is flat.
 */
export function listRows(tasks: Iterable<Task>, filter: Filter, startOfToday: Date): AgentRow[] {
  const fitting = [...tasks].filter((task) => fitsFilter(filter, task.state));
  const active = fitting.filter((task) => task.endedAt === null);
  const ended = fitting.filter((task) => task.endedAt !== null).sort(byEnd);
  const today = ended.filter((task) => Date.parse(task.endedAt ?? '') >= startOfToday.getTime());
  const earlier = ended.slice(today.length);
  const tree = filter === 'all' ? growTree(active) : active.sort(byBirth).map((task) => toRow(task, 0));
  return [
    ...withHeading('active', tree),
    ...withHeading(
      'today',
      today.map((task) => toRow(task, 0)),
    ),
    ...withHeading(
      'earlier',
      earlier.map((task) => toRow(task, 0)),
    ),
  ];
}

function withHeading(part: 'active' | 'today' | 'earlier', rows: AgentRow[]): AgentRow[] {
  return rows.length === 0 ? [] : [{ kind: 'heading', key: part, part, count: rows.length }, ...rows];
}

function growTree(active: readonly Task[]): AgentRow[] {
  const known = new Set(active.map((task) => task.id));
  const below = new Map<string | null, Task[]>();
  for (const task of active) {
    const parent = task.parentId !== null && known.has(task.parentId) ? task.parentId : null;
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [task]);
    else siblings.push(task);
  }
  const rows: AgentRow[] = [];
  const grow = (parent: string | null, level: number) => {
    const tasks = (below.get(parent) ?? []).sort(byBirth);
    for (const task of level === 0 ? tasks : tasks.reverse()) {
      rows.push(toRow(task, level));
      grow(task.id, level + 1);
    }
  };
  grow(null, 0);
  return rows;
}

function toRow(task: Task, level: number): AgentRow {
  return { kind: 'task', key: task.id, task, level };
}

/** Newest first. Ids are made in order of time, so they settle what began in the same millisecond. */
function byBirth(a: Task, b: Task): number {
  return b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id);
}

function byEnd(a: Task, b: Task): number {
  return (b.endedAt ?? '').localeCompare(a.endedAt ?? '') || b.id.localeCompare(a.id);
}
