import type { EventPayload } from '@vitto/contracts';

/** What a turn of the model says, without its thoughts and its calls. */
export function turnText({ message }: EventPayload<'agent.turn_completed'>): string {
  return message.content
    .map((part) => (part.type === 'text' && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}
