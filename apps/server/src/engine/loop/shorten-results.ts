import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { cutMiddle } from '../../kernel/text/cut.ts';

/** Cuts results to one length, the longest with which all fits. */
export function shortenResults(
  messages: LanguageModelV4Message[],
  bytes: number,
  maxBytes: number,
): LanguageModelV4Message[] {
  const texts = messages.flatMap((message) => (message.role === 'tool' ? message.content.map(textOf) : []));
  const sizes = texts.map((text) => Buffer.byteLength(text)).sort((a, b) => a - b);
  let room = sizes.reduce((sum, size) => sum + size, 0) - (bytes - maxBytes);
  let length = 0;
  for (const [index, size] of sizes.entries()) {
    length = Math.floor(room / (sizes.length - index));
    if (size > length) break;
    room -= size;
  }
  const max = Math.max(MIN_RESULT_BYTES, length);
  return messages.map((message) =>
    message.role === 'tool'
      ? { ...message, content: message.content.map((part) => shorten(part, max)) }
      : message,
  );
}
/** Less of a result than this says nothing. */
const MIN_RESULT_BYTES = 400;
/** What the line about the missing part takes. */
const CUT_NOTE_BYTES = 60;

type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number];
function textOf(part: ToolPart): string {
  if (part.type !== 'tool-result') return '';
  return part.output.type === 'text' || part.output.type === 'error-text' ? part.output.value : '';
}
function shorten(part: ToolPart, max: number): ToolPart {
  const text = textOf(part);
  const bytes = Buffer.byteLength(text);
  if (part.type !== 'tool-result' || bytes <= max) return part;
  if (part.output.type !== 'text' && part.output.type !== 'error-text') return part;
  const letters = Math.floor((text.length * Math.max(0, max - CUT_NOTE_BYTES)) / bytes);
  return { ...part, output: { ...part.output, value: cutMiddle(text, letters).text } };
}
