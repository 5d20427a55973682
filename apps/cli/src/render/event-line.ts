import { readKnownEvent, type EventEnvelope, type KnownEvent } from '@vitto/contracts';
import { fitColumns, formatClock, shortId } from '../text/format.ts';
import { toJsonLine } from '../text/json-line.ts';
import { toPlainLine } from '../text/terminal-text.ts';
import { noticeOf } from './notices.ts';
import { describeSpending } from './summary.ts';
import { describeCall, toolCard } from './tool-card.ts';

const DETAIL_MAX = 200;

/** One event as one line: time, task, type, and what is worth knowing of it. */
export function eventLine(envelope: EventEnvelope): string {
  const event = readKnownEvent(envelope);
  const detail = event === null ? toJsonLine(envelope.payload) : describe(event);
  const line = `${formatClock(envelope.at)} ${shortId(envelope.taskId)} ${envelope.type}`;
  return `${toPlainLine(line)}  ${fitColumns(toPlainLine(detail), DETAIL_MAX)}`.trimEnd();
}

function describe(event: KnownEvent): string {
  switch (event.type) {
    case 'user.message':
      return event.payload.text;
    case 'task.created':
      return event.payload.title;
    case 'task.queued':
      return event.payload.reason;
    case 'task.parked':
      return event.payload.state;
    case 'task.completed':
      return `${event.payload.success ? 'done' : 'not achieved'} · ${describeSpending(event.payload.spending)}`;
    case 'task.failed':
      return `${event.payload.error.code}: ${event.payload.error.message}`;
    case 'task.cancelled':
      return `by ${event.payload.by}`;
    case 'agent.text':
    case 'agent.reasoning':
      return event.payload.delta;
    case 'agent.turn_completed':
      return `${event.payload.model} · ${event.payload.finishReason}`;
    case 'tool.starting':
      return describeCall(event.payload.tool, event.payload.arguments);
    case 'tool.progress':
      return event.payload.text;
    case 'tool.called':
      return toolCard(event.payload, event.payload.tool);
    case 'approval.requested':
      return `${event.payload.approvalId} ${describeCall(event.payload.tool, event.payload.arguments)}`;
    default:
      return noticeOf(event)?.text ?? toJsonLine(event.payload);
  }
}
