import { AppError } from '../../kernel/app-error.ts';
import type { ChatMessage, ContentPart } from './chat-request.ts';
import { readImage, unsupported, type SentImage } from './read-image.ts';

/** As many files as a message takes. */
const MAX_IMAGES = 20;

export interface Turn {
  role: 'user' | 'assistant' | 'tool';
  /** Images stand in it by their names. */
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
  /** Of the prompt. */
  images: SentImage[];
  /** Of what was said before. */
  earlierImages: SentImage[];
}

/**
 * @throws AppError `openai.bad-messages` when the last message is not the user's or is empty,
 *   `openai.unsupported-content` for what is neither text nor an image.
 */
export function readMessages(messages: ChatMessage[]): ReadMessages {
  const instructions: string[] = [];
  const earlier: Turn[] = [];
  const earlierImages: SentImage[] = [];
  for (const [index, message] of messages.slice(0, -1).entries()) {
    const { text, images } = readContent(message, index, earlierImages.length);
    earlierImages.push(...images);
    if (message.role === 'system' || message.role === 'developer') instructions.push(text);
    else earlier.push(toTurn(message, text));
  }
  const last = messages.at(-1);
  if (last?.role !== 'user') throw badLast();
  const { text: prompt, images } = readContent(last, messages.length - 1, earlierImages.length);
  if (prompt.trim() === '') throw badLast();
  if (earlierImages.length + images.length > MAX_IMAGES) {
    throw unsupported('messages', `At most ${MAX_IMAGES} images are taken.`);
  }
  return {
    instructions: instructions.filter((text) => text.trim() !== ''),
    earlier,
    prompt,
    images,
    earlierImages,
  };
}

function toTurn(message: ChatMessage, text: string): Turn {
  const role = message.role === 'user' || message.role === 'assistant' ? message.role : 'tool';
  const calls = (message.tool_calls ?? []).flatMap(({ function: call }) =>
    call === undefined ? [] : [{ name: call.name, arguments: call.arguments }],
  );
  return calls.length === 0 ? { role, text } : { role, text, calls };
}

function readContent(
  { role, content }: ChatMessage,
  index: number,
  imagesBefore: number,
): { text: string; images: SentImage[] } {
  if (typeof content === 'string') return { text: content, images: [] };
  const images: SentImage[] = [];
  const texts = (content ?? []).map((part, at) => {
    const text = readText(part);
    if (text !== undefined) return text;
    const path = `messages.${index}.content.${at}`;
    const url = role === 'user' && part.type === 'image_url' ? part.image_url?.url : undefined;
    if (url === undefined) throw unsupported(path, `A content part of type "${part.type}" is not supported.`);
    const image = readImage(url, imagesBefore + images.length + 1, path);
    images.push(image);
    return `[${image.name}]`;
  });
  return { text: texts.join('\n'), images };
}

function readText(part: ContentPart): string | undefined {
  if (part.type === 'text') return part.text;
  return part.type === 'refusal' ? part.refusal : undefined;
}

function badLast(): AppError {
  return new AppError('openai.bad-messages', 'The last message must be one of the user, with a text.', {
    errors: [{ path: 'messages', message: 'the last one must be of the user, with a text' }],
  });
}
