import type { EventEnvelope } from '@vitto/contracts';

/** An event of the journal that somebody wants to hear of, with what is known of its task. */
export interface NoticedEvent {
  event: EventEnvelope;
  conversationId: string | null;
  title: string;
  depth: number;
}
