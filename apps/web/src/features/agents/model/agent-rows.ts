import { isEndState, type Task, type TaskState } from '@vitto/contracts';

export const FILTERS = ['all', 'running', 'waiting', 'queued', 'finished', 'failed'] as const;
export type Filter = (typeof FILTERS)[number];

export interface TaskRow {
  kind: 'task';
  key: string;
  task: Task;
  level: number;
  /** `null`: nothing is below it, or the list is flat. */
  isOpen: boolean | null;
}
export type AgentRow =
  { kind: 'heading'; key: string; part: 'active' | 'today' | 'earlier'; count: number } | TaskRow;

/** What a person opened or closed; else what is at work is open, and what has ended closed. */
export type Toggled = ReadonlyMap<string, boolean>;

export function fitsFilter(filter: Filter, state: TaskState): boolean {
  if (filter === 'all') return true;
  if (filter === 'waiting') return state.startsWith('waiting');
  if (filter === 'finished') return isEndState(state);
  return state === filter;
}

/**
 * Who is at work as a tree, the newest task first and its agents below it in the order in which they began, those that
 * have ended too; then what has ended, the latest end first, that of today apart. With a filter the list is flat.
 */
export function listRows(
  tasks: Iterable<Task>,
  filter: Filter,
  startOfToday: Date,
  toggled: Toggled = new Map(),
): AgentRow[] {
  const fitting = [...tasks].filter((task) => fitsFilter(filter, task.state));
  const below = filter === 'all' ? toTree(fitting) : new Map<string | null, Task[]>([[null, fitting]]);
  const tops = below.get(null) ?? [];
  const active = tops.filter((task) => task.endedAt === null).sort(byBirth);
  const ended = tops.filter((task) => task.endedAt !== null).sort(byEnd);
  const today = ended.filter((task) => Date.parse(task.endedAt ?? '') >= startOfToday.getTime());
  const earlier = ended.slice(today.length);
  const atWork = fitting.filter((task) => task.endedAt === null).length;
  const grow = (from: readonly Task[]) => from.flatMap((task) => growRows(task, 0, below, toggled, filter));
  return [
    ...withHeading('active', atWork, grow(active)),
    ...withHeading('today', today.length, grow(today)),
    ...withHeading('earlier', earlier.length, grow(earlier)),
  ];
}

function withHeading(part: 'active' | 'today' | 'earlier', count: number, rows: AgentRow[]): AgentRow[] {
  return rows.length === 0 ? [] : [{ kind: 'heading', key: part, part, count }, ...rows];
}

/** Tasks by what they stand under (`null`: nothing). What works on although its parent has ended stands by itself. */
function toTree(tasks: readonly Task[]): Map<string | null, Task[]> {
  const known = new Map(tasks.map((task) => [task.id, task]));
  const below = new Map<string | null, Task[]>();
  for (const task of tasks) {
    const parent = task.parentId === null ? undefined : known.get(task.parentId);
    const isUnder = parent !== undefined && (parent.endedAt === null || task.endedAt !== null);
    const key = isUnder ? parent.id : null;
    const siblings = below.get(key);
    if (siblings === undefined) below.set(key, [task]);
    else siblings.push(task);
  }
  return below;
}

function growRows(
  task: Task,
  level: number,
  below: ReadonlyMap<string | null, Task[]>,
  toggled: Toggled,
  filter: Filter,
): AgentRow[] {
  const children = below.get(task.id) ?? [];
  // What is below an ended task is asked for when somebody opens it.
  const mayOpen = filter === 'all' && (children.length > 0 || task.spentBelow.tokens > 0);
  const isOpen = mayOpen ? (toggled.get(task.id) ?? task.endedAt === null) : null;
  const row: TaskRow = { kind: 'task', key: task.id, task, level, isOpen };
  if (isOpen !== true) return [row];
  return [
    row,
    ...children.sort(byPlace).flatMap((child) => growRows(child, level + 1, below, toggled, filter)),
  ];
}

/** In the order in which they were deployed. */
export function byPlace(a: Task, b: Task): number {
  return (a.round ?? 0) - (b.round ?? 0) || (a.index ?? 0) - (b.index ?? 0) || byBirth(b, a);
}

/** Newest first. Ids are made in order of time, so they settle what began in the same millisecond. */
export function byBirth(a: Task, b: Task): number {
  return b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id);
}

function byEnd(a: Task, b: Task): number {
  return (b.endedAt ?? '').localeCompare(a.endedAt ?? '') || b.id.localeCompare(a.id);
}
