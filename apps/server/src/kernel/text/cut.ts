/** Cuts to at most `max` UTF-16 units without leaving half of a character. Counts no graphemes: an emoji sequence may be cut between its parts. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max);
}

/** The end of a text, at most `max` units, beginning at a whole character. */
export function cutTextEnd(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max;
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

/** One line for lists: white space folded, cut at a grapheme with an ellipsis. */
export function toTitle(text: string, max = 80): string {
  // Control and formatting characters (also those that turn the reading direction) have no place in a list.
  const line = text
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, (mark) => (mark === '\u200d' ? mark : ''))
    .trim();
  if (line.length <= max) return line;
  let title = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(
    line.slice(0, max * 4),
  )) {
    if (title.length + segment.length > max - 1) break;
    title += segment;
  }
  return `${title.trimEnd()}…`;
}

/**
 * Head and tail of a long text with the count of what is missing between them.
 * `max` is the budget in UTF-16 units for head and tail together.
 */
export function cutMiddle(text: string, max: number): { text: string; missing: number } {
  if (text.length <= max) return { text, missing: 0 };
  const head = cutText(text, Math.ceil(max * 0.6));
  const tail = cutTextEnd(text, Math.floor(max * 0.4));
  const missing = text.length - head.length - tail.length;
  return { text: `${head}\n[… ${missing} characters not shown …]\n${tail}`, missing };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
