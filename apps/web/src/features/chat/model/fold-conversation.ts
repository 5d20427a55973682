import type { EventEnvelope } from '@vitto/contracts';
import { applyEvent } from './apply-event.ts';
import { EMPTY_VIEW, type ConversationView } from './view.ts';
import { ViewDraft } from './view-draft.ts';

/** What is known of a conversation: its events, each once, in the order of their positions, and what they fold to. */
export interface ConversationLog {
  readonly events: readonly EventEnvelope[];
  readonly view: ConversationView;
}

export const EMPTY_LOG: ConversationLog = { events: [], view: EMPTY_VIEW };

/**
 * Takes events in: newer ones from the stream, older ones from a page of history, repeats and overlaps of both. The
 * view depends on the set of events alone, never on how or how often they came. Newer events cost what they change;
 * older ones fold everything again.
 */
export function foldConversation(log: ConversationLog, events: readonly EventEnvelope[]): ConversationLog {
  const fresh = newEvents(log.events, events);
  if (fresh.length === 0) return log;
  const last = log.events.at(-1)?.position ?? 0;
  const isNewer = fresh[0] !== undefined && fresh[0].position > last;
  const merged = isNewer ? [...log.events, ...fresh] : [...log.events, ...fresh].sort(byPosition);
  const draft = new ViewDraft(isNewer ? log.view : EMPTY_VIEW);
  for (const event of isNewer ? fresh : merged) applyEvent(draft, event);
  return { events: merged, view: draft.finish() };
}

function byPosition(a: EventEnvelope, b: EventEnvelope): number {
  return a.position - b.position;
}

/** Those that are not known yet, sorted, each once. */
function newEvents(known: readonly EventEnvelope[], events: readonly EventEnvelope[]): EventEnvelope[] {
  const fresh = new Map<number, EventEnvelope>();
  for (const event of events) if (!hasPosition(known, event.position)) fresh.set(event.position, event);
  return [...fresh.values()].sort(byPosition);
}

function hasPosition(events: readonly EventEnvelope[], position: number): boolean {
  let low = 0;
  let high = events.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = events[middle]?.position ?? 0;
    if (found === position) return true;
    if (found < position) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
