import { readKnownEvent, type Settings } from '@vitto/contracts';
import type { NoticedEvent } from './notice-event.ts';

/** What a browser shows; it is encrypted for that browser alone. */
export interface PushMessage {
  title: string;
  body: string;
  /** Where a click leads, on Vitto's own pages. */
  path: string;
  /** A later message with the same tag takes the place of an earlier one. */
  tag: string;
  /** Somebody waits for the person. */
  isUrgent: boolean;
}

type Words = Record<'approval' | 'question' | 'done' | 'undone' | 'failed' | 'whistle', string>;
const WORDS: Record<NonNullable<Settings['language']>, Words> = {
  en: {
    approval: 'I need your approval',
    question: 'I have a question',
    done: 'Done',
    undone: 'Ended without reaching its goal',
    failed: 'The task failed',
    whistle: 'For your attention',
  },
  es: {
    approval: 'Necesito tu aprobación',
    question: 'Tengo una pregunta',
    done: 'Hecho',
    undone: 'Terminó sin llegar a su objetivo',
    failed: 'La tarea ha fallado',
    whistle: 'Para que lo veas',
  },
};

/** True for what a person wants to be called for: whoever waits for them, and the end of what they asked for. */
export function isPushed({ event, depth }: NoticedEvent): boolean {
  const known = readKnownEvent(event);
  if (known === null) return false;
  if (known.type === 'approval.requested') return true;
  if (known.type === 'task.parked') return known.payload.state === 'waiting_input';
  if (known.type === 'tool.called') return known.payload.status === 'ok';
  return depth === 0 && (known.type === 'task.completed' || known.type === 'task.failed');
}

export function toPushMessage(noticed: NoticedEvent, language: Settings['language']): PushMessage {
  const { event, conversationId, title } = noticed;
  const known = readKnownEvent(event);
  const words = WORDS[language ?? 'en'];
  const base = {
    body: shorten(title),
    path: conversationId === null ? `/vitto/t/${event.taskId}` : `/vitto/c/${conversationId}`,
    tag: `task-${event.taskId}`,
    isUrgent: true,
  };
  switch (known?.type) {
    case 'approval.requested':
      return {
        ...base,
        title: words.approval,
        body: shorten(`${known.payload.tool}: ${title}`),
        path: '/vitto/inbox',
      };
    case 'task.parked':
      return { ...base, title: words.question };
    case 'task.failed':
      return { ...base, title: words.failed, isUrgent: false };
    case 'task.completed':
      return { ...base, title: known.payload.success ? words.done : words.undone, isUrgent: false };
    default:
      return { ...base, title: words.whistle };
  }
}

/** A push message has room for about 4 KB; people read two lines of it. */
function shorten(text: string): string {
  const clean = text.toWellFormed();
  return clean.length <= 200 ? clean : `${clean.slice(0, 199).toWellFormed()}…`;
}
