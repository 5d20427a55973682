import { AppError } from '../../kernel/app-error.ts';
import type { ChatMessage } from './chat-request.ts';

export interface Turn {
  role: 'user' | 'assistant' | 'tool';
  text: string;
  /** Calls that the assistant made, for context. */
  calls?: { name: string; arguments: string }[];
}

/** A request's messages taken apart: what is asked now, what was said before, what the client's author wants. */
export interface ReadMessages {
  /** System and developer messages. */
  instructions: string[];
  earlier: Turn[];
  prompt: string;
}

/**
 * @throws AppError `openai.bad-messages` when the last message is not the user's or is empty,
 *   `openai.unsupported-content` for what is no text.
 */
export function readMessages(messages: ChatMessage[]): ReadMessages {
  const instructions: string[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    const text = readText(message, index);
    if (message.role === 'system' || message.role === 'developer') instructions.push(text);
    else turns.push(toTurn(message, text));
  }
  const last = turns.pop();
  if (last?.role !== 'user' || last.text.trim() === '') {
    throw new AppError('openai.bad-messages', 'The last message must be a text of the user.', {
      errors: [{ path: 'messages', message: 'the last one must be a text of the user' }],
    });
  }
  return {
    instructions: instructions.filter((text) => text.trim() !== ''),
    earlier: turns,
    prompt: last.text,
  };
}

function toTurn(message: ChatMessage, text: string): Turn {
  const role = message.role === 'user' || message.role === 'assistant' ? message.role : 'tool';
  const calls = (message.tool_calls ?? []).flatMap(({ function: call }) =>
    call === undefined ? [] : [{ name: call.name, arguments: call.arguments }],
  );
  return calls.length === 0 ? { role, text } : { role, text, calls };
}

function readText({ content }: ChatMessage, index: number): string {
  if (typeof content === 'string') return content;
  const texts = (content ?? []).map((part, at) => {
    const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined;
    if (text !== undefined) return text;
    const path = `messages.${index}.content.${at}`;
    throw new AppError(
      'openai.unsupported-content',
      `A content part of type "${part.type}" is not supported.`,
      {
        hint: 'Send text.',
        errors: [{ path, message: 'only text parts are taken' }],
      },
    );
  });
  return texts.join('\n');
}
