import { readKnownEvent, type EventEnvelope, type KnownEvent } from '@vitto/contracts';
import { StepDraft } from './step-draft.ts';
import type { StepList, TurnFacts } from './step.ts';

/**
 * Folds the next events of a task into its timeline. It begins anywhere in the journal: a result without its beginning
 * is a step as well, which began as long before as it took.
 */
export function foldSteps(list: StepList, events: readonly EventEnvelope[]): StepList {
  if (events.length === 0) return list;
  const draft = new StepDraft(list);
  for (const event of events) {
    const known = readEvent(event);
    if (known === null) draft.addMoment('raw', event);
    else apply(draft, known, event);
  }
  return draft.finish();
}

/** What was read of an event; when older ones come in, all are folded again, and reading is what costs. */
const read = new WeakMap<EventEnvelope, KnownEvent | 'unknown'>();

function readEvent(event: EventEnvelope): KnownEvent | null {
  const known = read.get(event) ?? readKnownEvent(event) ?? 'unknown';
  read.set(event, known);
  return known === 'unknown' ? null : known;
}

const TROUBLE = new Set<KnownEvent['type']>([
  'budget.exceeded',
  'task.stuck',
  'model.fallback',
  'vm.degraded',
  'vm.lost',
]);

function apply(draft: StepDraft, known: KnownEvent, event: EventEnvelope): void {
  switch (known.type) {
    case 'user.message':
      return draft.addMoment('message', event);
    case 'task.created':
    case 'task.queued':
    case 'task.started':
      if (known.type !== 'task.queued' || !draft.endWait(event)) draft.addMoment('state', event);
      return;
    case 'task.parked':
      return draft.openWait(event);
    case 'task.resumed':
      if (!draft.endWait(event)) draft.addMoment('state', event, known.payload.reason === 'lease-expired');
      return;
    case 'task.completed':
    case 'task.failed':
    case 'task.cancelled':
      draft.endAll(event.at);
      return draft.addMoment('end', event, known.type === 'task.failed');
    case 'agent.iteration':
    case 'model.retry':
    case 'agent.turn_completed':
      return applyTurn(draft, known, event);
    case 'tool.starting':
    case 'tool.called':
      return applyTool(draft, known, event);
    case 'approval.requested':
    case 'approval.decided':
      return applyAsking(draft, known, event);
    case 'phase.started':
    case 'phase.completed':
      return applyPhase(draft, known, event);
    case 'subvitto.spawned':
    case 'subvitto.vm_acquired':
    case 'subvitto.vm_degraded':
    case 'subvitto.progress':
    case 'subvitto.completed':
    case 'subvitto.failed':
      return applyAgent(draft, known, event);
    case 'agent.text':
    case 'agent.reasoning':
    case 'tool.progress':
      return;
    default:
      return draft.addMoment('notice', event, TROUBLE.has(known.type));
  }
}

type Of<T extends KnownEvent['type']> = Extract<KnownEvent, { type: T }>;
const NO_TURN = { tries: 1, model: null, usage: null, costUsd: null, finishReason: null, says: '' };

function applyTurn(
  draft: StepDraft,
  known: Of<'agent.iteration' | 'model.retry' | 'agent.turn_completed'>,
  event: EventEnvelope,
): void {
  const { turn } = known.payload;
  const key = `turn:${turn}`;
  const before: TurnFacts = draft.find(key)?.turn ?? { ...NO_TURN, turn };
  if (known.type === 'agent.iteration') return draft.add('turn', key, event, { turn: before });
  if (known.type === 'model.retry') {
    const tries = known.payload.attempt + 1;
    return draft.add('turn', key, event, { isTrouble: true, turn: { ...before, tries } });
  }
  const { model, usage, costUsd, finishReason, durationMs, message } = known.payload;
  const says = message.content
    .map((part) =>
      part.type === 'text' && typeof part['text'] === 'string' ? part['text'].slice(0, 300) : '',
    )
    .join(' ')
    .trim();
  const isNew = draft.find(key) === null;
  draft.add('turn', key, event, {
    ...(isNew ? { startedAt: momentBefore(event.at, durationMs) } : {}),
    endedAt: event.at,
    turn: {
      ...before,
      tries: Math.max(before.tries, known.payload.attempt),
      model,
      usage,
      costUsd,
      finishReason,
      says,
    },
  });
}

function applyTool(draft: StepDraft, known: Of<'tool.starting' | 'tool.called'>, event: EventEnvelope): void {
  const key = `tool:${known.payload.callId}`;
  if (known.type === 'tool.starting') {
    // The same call may be started again after a restart: the first start stays.
    return draft.add('tool', key, event);
  }
  const { status, durationMs } = known.payload;
  const isNew = draft.find(key) === null;
  draft.add('tool', key, event, {
    ...(isNew ? { startedAt: momentBefore(event.at, durationMs) } : {}),
    endedAt: event.at,
    isTrouble: status !== 'ok' && status !== 'cancelled',
  });
}

function applyAsking(
  draft: StepDraft,
  known: Of<'approval.requested' | 'approval.decided'>,
  event: EventEnvelope,
): void {
  const key = `asking:${known.payload.approvalId}`;
  draft.add('asking', key, event, known.type === 'approval.decided' ? { endedAt: event.at } : {});
}

type AgentEvent = Of<
  | 'subvitto.spawned'
  | 'subvitto.vm_acquired'
  | 'subvitto.vm_degraded'
  | 'subvitto.progress'
  | 'subvitto.completed'
  | 'subvitto.failed'
>;

/** All that is told of a sub-Vitto is one step. Where it stood before the latest word on that is in its own timeline. */
function applyAgent(draft: StepDraft, known: AgentEvent, event: EventEnvelope): void {
  const key = `agent:${known.payload.id}`;
  if (known.type === 'subvitto.progress') return draft.replaceLast('agent', key, event);
  const isTrouble =
    known.type === 'subvitto.vm_degraded' ||
    (known.type === 'subvitto.completed' && !known.payload.success) ||
    (known.type === 'subvitto.failed' && known.payload.status !== 'cancelled');
  if (known.type !== 'subvitto.completed' && known.type !== 'subvitto.failed')
    return draft.add('agent', key, event, { isTrouble });
  const { duration } = known.payload;
  const isNew = draft.find(key) === null;
  draft.add('agent', key, event, {
    ...(isNew && duration !== undefined ? { startedAt: momentBefore(event.at, duration) } : {}),
    endedAt: event.at,
    isTrouble,
  });
}

function applyPhase(
  draft: StepDraft,
  known: Of<'phase.started' | 'phase.completed'>,
  event: EventEnvelope,
): void {
  // A phase may come again; its end belongs to the one that is open.
  const open = `phase:${known.payload.phase}`;
  const last = draft.find(open);
  if (known.type === 'phase.started') {
    if (last === null || last.endedAt === null) return draft.add('notice', open, event);
    return draft.addMoment('notice', event);
  }
  if (last !== null && last.endedAt === null) return draft.add('notice', open, event, { endedAt: event.at });
  draft.addMoment('notice', event);
}

/** The moment that long before another. */
function momentBefore(at: string, ms: number): string {
  return new Date(Date.parse(at) - ms).toISOString();
}
