import { readKnownEvent, type EventEnvelope, type Task } from '@vitto/contracts';
import { addSpendingBelow, applyToTask } from './apply-to-task.ts';

/** What a running task does right now; `null` between calls. */
export interface CurrentCall {
  tool: string;
  arguments: unknown;
  since: string;
}

export interface LiveTasks {
  readonly tasks: ReadonlyMap<string, Task>;
  /** Known from the stream only; a task that is not in here has not said anything since the page was opened. */
  readonly calls: ReadonlyMap<string, CurrentCall | null>;
}

export const NO_TASKS: LiveTasks = { tasks: new Map(), calls: new Map() };

/** Tasks after a batch of events, each list copied once at most. What no event is about keeps its identity. */
export function applyToTasks(live: LiveTasks, events: readonly EventEnvelope[]): LiveTasks {
  const tasks = new Map(live.tasks);
  const calls = new Map(live.calls);
  for (const event of events) {
    if (event.type === 'task.created' && !tasks.has(event.taskId)) addTask(tasks, event);
    const task = tasks.get(event.taskId);
    if (task === undefined || event.seq <= task.lastSeq) continue;
    tasks.set(task.id, applyToTask(task, event));
    noteCall(calls, event);
    if (event.type === 'agent.turn_completed') spendAbove(tasks, task, event);
  }
  return { tasks, calls };
}

function addTask(tasks: Map<string, Task>, event: EventEnvelope): void {
  const known = readKnownEvent(event);
  if (known?.type !== 'task.created') return;
  const { parentTaskId, rootTaskId, round, index, dependsOn, ...rest } = known.payload;
  tasks.set(event.taskId, {
    ...rest,
    id: event.taskId,
    parentId: parentTaskId,
    rootId: rootTaskId ?? event.taskId,
    round: round ?? null,
    index: index ?? null,
    dependsOn: dependsOn ?? [],
    state: 'queued',
    spending: { iterations: 0, tokens: 0, costUsd: 0, durationMs: 0 },
    spentBelow: { tokens: 0, costUsd: 0 },
    waitingFor: null,
    tainted: false,
    result: null,
    success: null,
    error: null,
    lastSeq: event.seq,
    createdAt: event.at,
    startedAt: null,
    endedAt: null,
  });
}

function noteCall(calls: Map<string, CurrentCall | null>, event: EventEnvelope): void {
  if (event.type === 'tool.starting') {
    const { tool, arguments: args } = event.payload;
    if (typeof tool === 'string') calls.set(event.taskId, { tool, arguments: args, since: event.at });
  } else if (event.type === 'tool.called' || event.type === 'agent.iteration') calls.set(event.taskId, null);
}

/** Tokens and money count for every task above as well, as spent below it. */
function spendAbove(tasks: Map<string, Task>, task: Task, event: EventEnvelope): void {
  const known = readKnownEvent(event);
  if (known?.type !== 'agent.turn_completed') return;
  for (let at = task.parentId; at !== null;) {
    const above = tasks.get(at);
    if (above === undefined) return;
    tasks.set(at, addSpendingBelow(above, known.payload));
    at = above.parentId;
  }
}
