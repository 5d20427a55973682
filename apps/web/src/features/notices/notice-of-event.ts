import { readKnownEvent, type EventEnvelope } from '@vitto/contracts';

/** What is shown of an event while Vitto's page is open but not looked at. The words are the reader's. */
export type NoticeKind = 'approval' | 'question' | 'done' | 'undone' | 'failed' | 'whistle';

export interface Notice {
  kind: NoticeKind;
  body: string;
  path: string;
  tag: string;
}

/** What a person wants to be called for; `null` for all else. */
export function noticeOf(event: EventEnvelope): Notice | null {
  const known = readKnownEvent(event);
  const task = { path: `/vitto/t/${event.taskId}`, tag: `task-${event.taskId}` };
  switch (known?.type) {
    case 'approval.requested':
      return { ...task, kind: 'approval', body: known.payload.tool, path: '/vitto/inbox' };
    case 'task.parked': {
      const { waitingFor } = known.payload;
      return waitingFor.kind === 'input'
        ? { ...task, kind: 'question', body: shorten(waitingFor.question) }
        : null;
    }
    case 'task.completed':
      if (known.payload.parentTaskId !== undefined) return null;
      return {
        ...task,
        kind: known.payload.success ? 'done' : 'undone',
        body: shorten(known.payload.result),
      };
    case 'task.failed':
      if (known.payload.parentTaskId !== undefined) return null;
      return { ...task, kind: 'failed', body: shorten(known.payload.error.message) };
    case 'tool.called': {
      const { tool, status, text } = known.payload;
      return tool === 'whistle_user' && status === 'ok'
        ? { ...task, kind: 'whistle', body: shorten(text) }
        : null;
    }
    default:
      return null;
  }
}

function shorten(text: string): string {
  const line = text.toWellFormed().trim().replaceAll(/\s+/g, ' ');
  return line.length <= 160 ? line : `${line.slice(0, 159).toWellFormed()}…`;
}
