import { readKnownEvent, type EventEnvelope, type KnownEvent, type Task } from '@vitto/contracts';

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
      return addSpending(task, event.payload);
    case 'task.completed':
      return {
        ...end(task, 'completed', event),
        result: event.payload.result,
        success: event.payload.success,
      };
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

interface TurnUse {
  usage: { inputTokens: number; outputTokens: number };
  costUsd: number | null;
}

/** A task after a turn of its own. */
function addSpending(task: Task, turn: TurnUse): Task {
  const { spending } = task;
  return {
    ...task,
    spending: { ...spending, ...addUse(spending, turn), iterations: spending.iterations + 1 },
  };
}

/** A task after a turn of one that is below it. */
export function addSpendingBelow(task: Task, turn: TurnUse): Task {
  return {
    ...task,
    spending: { ...task.spending, ...addUse(task.spending, turn) },
    spentBelow: addUse(task.spentBelow, turn),
  };
}

/** What has no price makes the sum unknown. */
function addUse(spent: Task['spentBelow'], turn: TurnUse): Task['spentBelow'] {
  return {
    tokens: spent.tokens + turn.usage.inputTokens + turn.usage.outputTokens,
    costUsd: spent.costUsd === null || turn.costUsd === null ? null : spent.costUsd + turn.costUsd,
  };
}
