import type { KnownEvent, TaskState } from '@vitto/contracts';
import { endGroups } from './apply-agents.ts';
import { setAside } from './apply-turn.ts';
import { placeOf, type EndItem } from './view.ts';
import type { ViewDraft } from './view-draft.ts';

type TaskEvent = Extract<
  KnownEvent,
  {
    type:
      | 'task.created'
      | 'task.queued'
      | 'task.started'
      | 'task.parked'
      | 'task.resumed'
      | 'task.completed'
      | 'task.failed'
      | 'task.cancelled';
  }
>;
type EndEvent = Extract<TaskEvent, { type: 'task.completed' | 'task.failed' | 'task.cancelled' }>;

/** The life of a task. */
export function applyTask(draft: ViewDraft, event: TaskEvent): void {
  switch (event.type) {
    case 'task.created':
      return draft.putTask({
        ...draft.task(event.taskId),
        parentId: event.payload.parentTaskId,
        depth: event.payload.depth,
        state: 'queued',
        isWhole: true,
      });
    case 'task.queued':
      return setState(draft, event, 'queued');
    case 'task.started':
      return setState(draft, event, 'running');
    case 'task.resumed':
      setState(draft, event, 'running');
      return setOpenTurnsAside(draft, event.taskId);
    case 'task.parked':
      setState(draft, event, event.payload.state);
      return ask(draft, event);
    case 'task.completed':
    case 'task.failed':
    case 'task.cancelled':
      return endTask(draft, event);
  }
}

function setState(draft: ViewDraft, event: TaskEvent, state: TaskState): void {
  const task = draft.task(event.taskId);
  const startedAt = task.startedAt ?? (state === 'running' ? event.at : null);
  draft.putTask({ ...task, state, startedAt });
}

/** A turn that was open when its worker died does not count: it is asked for again. */
function setOpenTurnsAside(draft: ViewDraft, taskId: string): void {
  draft.changeOfTask('answer', taskId, (answer) =>
    answer.state === 'streaming'
      ? setAside({ ...answer, state: 'interrupted' }, 'restart', '', null, 1)
      : null,
  );
}

function ask(draft: ViewDraft, event: Extract<TaskEvent, { type: 'task.parked' }>): void {
  const { waitingFor } = event.payload;
  if (waitingFor.kind !== 'input') return;
  draft.put({
    kind: 'question',
    key: `question:${event.taskId}:${waitingFor.callId}`,
    ...placeOf(event),
    callId: waitingFor.callId,
    question: waitingFor.question,
    choices: waitingFor.choices ?? [],
    isOfAgent: draft.task(event.taskId).depth > 0,
    state: 'open',
  });
}

function endTask(draft: ViewDraft, event: EndEvent): void {
  const outcome = toOutcome(event);
  setState(draft, event, outcome);
  const { taskId } = event;
  draft.changeOfTask('answer', taskId, (answer) =>
    answer.state === 'streaming' ? { state: 'interrupted' } : null,
  );
  draft.changeOfTask('tool', taskId, (tool) => {
    if (tool.state === 'waiting' || tool.state === 'asking') return { state: 'cancelled' };
    if (tool.state !== 'running') return null;
    return { state: outcome === 'cancelled' ? 'cancelled' : 'unknown' };
  });
  endGroups(draft, taskId, event.at);
  draft.changeOfTask('approval', taskId, (approval) =>
    approval.decision === null ? { isClosed: true } : null,
  );
  draft.changeOfTask('question', taskId, (question) =>
    question.state === 'open' ? { state: 'closed' } : null,
  );
  if (draft.task(taskId).depth === 0) draft.put(toEndItem(draft, event, outcome));
}

function toOutcome(event: EndEvent): EndItem['outcome'] {
  if (event.type === 'task.completed') return 'completed';
  return event.type === 'task.failed' ? 'failed' : 'cancelled';
}

function toEndItem(draft: ViewDraft, event: EndEvent, outcome: EndItem['outcome']): EndItem {
  const isCompleted = event.type === 'task.completed';
  const said = draft.lastAnswer(event.taskId)?.text.trim() ?? '';
  const result = isCompleted ? event.payload.result : '';
  const task = draft.task(event.taskId);
  return {
    kind: 'end',
    key: `end:${event.taskId}`,
    ...placeOf(event),
    outcome,
    success: isCompleted && event.payload.success,
    result: result.trim() === '' || result.trim() === said ? null : result,
    artifacts: (isCompleted ? event.payload.artifacts : undefined) ?? [],
    error: event.type === 'task.failed' ? event.payload.error : null,
    by: event.type === 'task.cancelled' ? event.payload.by : null,
    reason: event.type === 'task.cancelled' ? (event.payload.reason ?? null) : null,
    spending: event.payload.spending ?? (task.isWhole ? task.spending : null),
    isScripted: task.isScripted,
  };
}
