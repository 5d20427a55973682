import type { EventEnvelope, Task } from '@vitto/contracts';
import { byBirth, byPlace } from '../../agents/model/agent-rows.ts';
import { applyToTasks, NO_TASKS, type LiveTasks } from '../../agents/model/live-tasks.ts';
import { addToTail, NO_TAIL, type Tail } from './tail.ts';

/** Everybody at work, what each has written last, and who has just ended. */
export interface LiveView {
  readonly live: LiveTasks;
  readonly tails: ReadonlyMap<string, Tail>;
}

export const NOTHING_LIVE: LiveView = { live: NO_TASKS, tails: new Map() };

/** Ended tasks that are kept in sight, the newest of them. */
export const MOST_ENDED = 30;

/** The view after a batch of events, those of text and output included. */
export function applyToLive(view: LiveView, events: readonly EventEnvelope[]): LiveView {
  // What the server had counted already is known here by the number that each task had before.
  const before = view.live.tasks;
  const live = applyToTasks(view.live, events);
  const tails = new Map(view.tails);
  for (const event of events) {
    if (!live.tasks.has(event.taskId) || event.seq <= (before.get(event.taskId)?.lastSeq ?? 0)) continue;
    const tail = tails.get(event.taskId) ?? NO_TAIL;
    const next = addToTail(tail, event);
    if (next !== tail) tails.set(event.taskId, next);
  }
  return forget({ live, tails }, listOver(live.tasks));
}

/** Takes tasks that have ended out of sight; what still works stays. */
export function dismiss(view: LiveView, ids: ReadonlySet<string>): LiveView {
  const ended = [...ids].filter((id) => view.live.tasks.get(id)?.endedAt != null);
  return forget(view, new Set(ended));
}

/** Who need not be seen any more: those whose root has ended, and the oldest of more than so many. */
function listOver(tasks: ReadonlyMap<string, Task>): Set<string> {
  const ended = [...tasks.values()].filter((task) => task.endedAt !== null);
  const isRootOver = (task: Task) => task.depth > 0 && tasks.get(task.rootId)?.endedAt != null;
  const over = ended.filter(isRootOver);
  const rest = ended
    .filter((task) => !isRootOver(task))
    .sort((a, b) => (b.endedAt ?? '').localeCompare(a.endedAt ?? ''));
  return new Set([...over, ...rest.slice(MOST_ENDED)].map((task) => task.id));
}

function forget({ live, tails }: LiveView, ids: ReadonlySet<string>): LiveView {
  if (ids.size === 0) return { live, tails };
  const without = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([id]) => !ids.has(id)));
  return { live: { tasks: without(live.tasks), calls: without(live.calls) }, tails: without(tails) };
}

/** A root task and those that work for it. */
export interface LiveGroup {
  rootId: string;
  /** Those that have begun, each parent before its own; the root in any case. */
  tasks: Task[];
  /** Those that wait in line and have done nothing yet. */
  queued: number;
  hasEnded: boolean;
}

/** The groups, the newest root first. */
export function groupLive(tasks: ReadonlyMap<string, Task>): LiveGroup[] {
  const byRoot = new Map<string, Task[]>();
  for (const task of tasks.values()) {
    const family = byRoot.get(task.rootId);
    if (family === undefined) byRoot.set(task.rootId, [task]);
    else family.push(task);
  }
  return [...byRoot]
    .map(([rootId, family]) => toGroup(rootId, family))
    .sort((a, b) => byBirth(a.first, b.first))
    .map(({ group }) => group);
}

function toGroup(rootId: string, family: readonly Task[]): { first: Task; group: LiveGroup } {
  const known = new Set(family.map((task) => task.id));
  const below = new Map<string | null, Task[]>();
  for (const task of [...family].sort(byPlace)) {
    const parent = task.parentId !== null && known.has(task.parentId) ? task.parentId : null;
    below.set(parent, [...(below.get(parent) ?? []), task]);
  }
  const inOrder = (parent: string | null): Task[] =>
    (below.get(parent) ?? []).flatMap((task) => [task, ...inOrder(task.id)]);
  const all = inOrder(null);
  const waits = (task: Task) => task.id !== rootId && task.startedAt === null && task.endedAt === null;
  const shown = all.filter((task) => !waits(task));
  return {
    first: all[0] as Task,
    group: {
      rootId,
      tasks: shown,
      queued: all.length - shown.length,
      hasEnded: shown.some((task) => task.endedAt !== null),
    },
  };
}
