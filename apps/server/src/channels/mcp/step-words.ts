import { readKnownEvent, type EventEnvelope, type EventPayload, type KnownEvent } from '@vitto/contracts';
import { cutText } from '../../kernel/text/cut.ts';
import { turnText } from '../turn-text.ts';

/** What is shown of one text in a step, in UTF-16 units. */
const MAX_TEXT = 400;

/** A step of a task in one line; `null` for what says nothing to somebody who follows from outside. */
export function describeStep(envelope: EventEnvelope): string | null {
  const event = readKnownEvent(envelope);
  return event === null ? null : (describeWork(event) ?? describeState(event));
}

function describeWork(event: KnownEvent): string | null {
  switch (event.type) {
    case 'user.message':
      return `message (${event.payload.source}): ${brief(event.payload.text)}`;
    case 'agent.turn_completed':
      return describeTurn(event.payload);
    case 'tool.starting':
      return `${event.payload.tool} begins: ${brief(JSON.stringify(event.payload.arguments))}`;
    case 'tool.called':
      return `${event.payload.tool} ${event.payload.status}: ${brief(event.payload.text)}`;
    case 'approval.requested':
      return `asks for approval ${event.payload.approvalId} of ${event.payload.tool}: ${brief(event.payload.reason)}`;
    case 'approval.decided':
      return `approval ${event.payload.approvalId} ${event.payload.decision} (${event.payload.by})`;
    case 'subvitto.spawned':
      return `sends out a helper: ${brief(event.payload.description)}`;
    case 'subvitto.completed':
      return `a helper is done: ${brief(event.payload.result)}`;
    case 'subvitto.failed':
      return `a helper failed: ${brief(event.payload.error)}`;
    default:
      return null;
  }
}

function describeState(event: KnownEvent): string | null {
  switch (event.type) {
    case 'task.started':
      return 'started';
    case 'task.resumed':
      return `goes on (${event.payload.reason})`;
    case 'task.parked':
      return event.payload.state.replace('_', ' for ').replace('waiting', 'waits');
    case 'task.completed':
      return 'completed';
    case 'task.failed':
      return `failed: ${brief(event.payload.error.message)}`;
    case 'task.cancelled':
      return `cancelled (${event.payload.by})`;
    case 'task.stuck':
      return `stuck: ${brief(event.payload.note)}`;
    case 'model.retry':
      return `the model is tried again: ${brief(event.payload.message)}`;
    case 'model.fallback':
      return `another model takes over: ${event.payload.to}`;
    case 'budget.exceeded':
      return `the ${event.payload.budget} budget is used up`;
    case 'vm.degraded':
      return `without a VM: ${brief(event.payload.reason)}`;
    default:
      return null;
  }
}

function describeTurn(payload: EventPayload<'agent.turn_completed'>): string | null {
  const text = turnText(payload);
  return text.trim() === '' ? null : `says: ${brief(text)}`;
}

function brief(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length <= MAX_TEXT ? line : `${cutText(line, MAX_TEXT)}…`;
}
