import { isEndState, readKnownEvent, type EventEnvelope, type KnownEvent, type Task } from '@vitto/contracts';

/** The types that change what a task's row shows; everything else is not even read. */
const TELLING = new Set([
  'task.queued',
  'task.started',
  'task.parked',
  'task.resumed',
  'task.completed',
  'task.failed',
  'task.cancelled',
  'agent.turn_completed',
]);

/**
 * A task after an event of its own. An event that the server had counted already when it gave the task (`lastSeq`)
 * changes nothing, so that what was loaded and what streams may overlap.
 */
export function applyToTask(task: Task, event: EventEnvelope): Task {
  if (event.taskId !== task.id || event.seq <= task.lastSeq) return task;
  const known = TELLING.has(event.type) ? readKnownEvent(event) : null;
  const changed = known === null ? task : applyKnown(task, known);
  return { ...changed, lastSeq: event.seq };
}

function applyKnown(task: Task, event: KnownEvent): Task {
  switch (event.type) {
    case 'task.queued':
      return { ...task, state: 'queued', waitingFor: null };
    case 'task.started':
    case 'task.resumed':
      return { ...task, state: 'running', waitingFor: null, startedAt: task.startedAt ?? event.at };
    case 'task.parked':
      return { ...task, state: event.payload.state, waitingFor: event.payload.waitingFor };
    case 'agent.turn_completed':
      return addSpending(task, event.payload, 1);
    case 'task.completed':
      return { ...end(task, 'completed', event), result: event.payload.result };
    case 'task.failed':
      return { ...end(task, 'failed', event), error: event.payload.error };
    case 'task.cancelled':
      return end(task, 'cancelled', event);
    default:
      return task;
  }
}

type EndEvent = Extract<KnownEvent, { type: 'task.completed' | 'task.failed' | 'task.cancelled' }>;

function end(task: Task, state: 'completed' | 'failed' | 'cancelled', event: EndEvent): Task {
  const spending = event.payload.spending ?? task.spending;
  return { ...task, state, waitingFor: null, spending, endedAt: event.at };
}

/** What a turn used, on its task (`iterations` 1) or on a task above it (0). */
export function addSpending(
  task: Task,
  turn: { usage: { inputTokens: number; outputTokens: number }; costUsd: number | null },
  iterations: 0 | 1,
): Task {
  const { spending } = task;
  const costUsd = spending.costUsd === null || turn.costUsd === null ? null : spending.costUsd + turn.costUsd;
  return {
    ...task,
    spending: {
      ...spending,
      iterations: spending.iterations + iterations,
      tokens: spending.tokens + turn.usage.inputTokens + turn.usage.outputTokens,
      costUsd,
    },
  };
}

export function isActive(task: Task): boolean {
  return !isEndState(task.state);
}
