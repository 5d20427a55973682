import { isEndState, readKnownEvent, type EventEnvelope, type KnownEvent } from '@vitto/contracts';
import { applyAgent, applyRound } from './apply-agents.ts';
import { applyAsking } from './apply-asking.ts';
import { applyTask } from './apply-task.ts';
import { applyTool } from './apply-tool.ts';
import { applyTurn } from './apply-turn.ts';
import { placeOf } from './view.ts';
import type { ViewDraft } from './view-draft.ts';

/** Folds one event into a view. Events of sub-tasks count, ask and warn; their steps are not shown here. */
export function applyEvent(draft: ViewDraft, event: EventEnvelope): void {
  const known = readEvent(event);
  if (known === null) {
    draft.put({ kind: 'raw', key: `raw:${event.position}`, ...placeOf(event), event });
    return;
  }
  noteTask(draft, known);
  if (draft.task(event.taskId).depth > 0 && !isShownOfSubTasks(known.type)) return;
  applyKnown(draft, known);
}

/** What was read of an event; older pages fold all of them again, and reading is what costs. */
const read = new WeakMap<EventEnvelope, KnownEvent | 'unknown'>();

function readEvent(event: EventEnvelope): KnownEvent | null {
  const known = read.get(event) ?? readKnownEvent(event) ?? 'unknown';
  read.set(event, known);
  return known === 'unknown' ? null : known;
}

/** A task of which only the end of its journal is here: it runs when it does something, and else has ended. */
function noteTask(draft: ViewDraft, event: KnownEvent): void {
  const task = draft.task(event.taskId);
  const isRunning = event.type.startsWith('agent.') || event.type === 'tool.starting';
  if (isRunning && !task.isWhole) draft.putTask({ ...task, state: 'running' });
  else if (event.type === 'subvitto.progress' && !task.isWhole && isEndState(task.state))
    draft.putTask({ ...task, state: 'waiting_children' });
  else draft.putTask(task);
}

/** Of a sub-task: what else it does is in the journal of its own, and as its parent tells it. */
export function isShownOfSubTasks(type: string): boolean {
  return (
    (type.startsWith('task.') && type !== 'task.stuck') ||
    type.startsWith('approval.') ||
    type === 'user.message' ||
    type === 'agent.turn_completed'
  );
}

function applyKnown(draft: ViewDraft, event: KnownEvent): void {
  switch (event.type) {
    case 'user.message':
      applyAsking(draft, event);
      // What a sub-task is told is on its own page; here it only answers what it asked.
      return draft.task(event.taskId).depth > 0 ? undefined : addMessage(draft, event);
    case 'task.created':
    case 'task.queued':
    case 'task.started':
    case 'task.parked':
    case 'task.resumed':
    case 'task.completed':
    case 'task.failed':
    case 'task.cancelled':
      return applyTask(draft, event);
    case 'agent.iteration':
    case 'agent.text':
    case 'agent.reasoning':
    case 'agent.turn_completed':
    case 'model.retry':
      return applyTurn(draft, event);
    case 'tool.starting':
    case 'tool.progress':
    case 'tool.called':
      return applyTool(draft, event);
    case 'approval.requested':
    case 'approval.decided':
      return applyAsking(draft, event);
    case 'phase.completed':
      if (event.payload.phase === 'compaction') addNotice(draft, event);
      return;
    case 'gate.evaluated':
      if (event.payload.decision !== 'act') addNotice(draft, event);
      return;
    case 'phase.started':
    case 'checkpoint.saved':
    case 'cut.taken':
      // The machine's own bookkeeping: nothing that a reader of the conversation waits for.
      return;
    case 'orchestrator.round':
      return applyRound(draft, event);
    case 'subvitto.spawned':
    case 'subvitto.vm_acquired':
    case 'subvitto.vm_degraded':
    case 'subvitto.progress':
    case 'subvitto.completed':
    case 'subvitto.failed':
      return applyAgent(draft, event);
    case 'vm.released':
      // With a reason it was not the task that let go of it.
      if (event.payload.reason !== undefined) addNotice(draft, event);
      return;
    case 'vm.waiting':
    case 'vm.acquired':
      return addVm(draft, event);
    default:
      return addNotice(draft, event);
  }
}

/** The line of a task's wait for a VM becomes the one that says how it came. That it has the same one again is no news. */
function addVm(draft: ViewDraft, event: Extract<KnownEvent, { type: 'vm.waiting' | 'vm.acquired' }>): void {
  const key = `vm:${event.taskId}`;
  const line = draft.find('notice', key);
  if (line === null || line.event.type === 'vm.waiting') {
    draft.put({ kind: 'notice', key, ...placeOf(event), event });
  } else if (event.type === 'vm.waiting' || event.payload.from !== 'session') addNotice(draft, event);
}

function addNotice(draft: ViewDraft, event: KnownEvent): void {
  draft.put({ kind: 'notice', key: `notice:${event.position}`, ...placeOf(event), event });
}

/** A message, and what it sets aside: all from the one on that it stands in for. */
function addMessage(draft: ViewDraft, event: Extract<KnownEvent, { type: 'user.message' }>): void {
  const { messageId, text, attachments, answers, replaces, replacesPosition } = event.payload;
  if (replaces !== undefined) {
    const known = draft.find('user', `user:${replaces}`)?.position;
    // What is not here yet is older than all that is.
    draft.setAsideFrom(replacesPosition ?? known ?? 0, messageId);
  }
  draft.put({
    kind: 'user',
    key: `user:${messageId}`,
    ...placeOf(event),
    messageId,
    text,
    attachments: attachments ?? [],
    isAnswer: answers !== undefined,
  });
}
