/**
 * Characters that do not show: controls but tab and line end, direction marks, zero-width characters, fillers, tags,
 * variation selectors. Text hidden in them reaches a model though no person has seen it.
 */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** The three flags of the world's emoji that are spelt with tags. */
const TAG_FLAGS =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

/** Scripts in which a joiner changes how the word is written. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]$/u;
const EMOJI = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}0-9#*]$/u;

/**
 * Takes invisible characters out and counts them; those that belong to an emoji or to the spelling of a word stay.
 * Line ends come out as `\n`.
 */
export function stripInvisible(text: string): { text: string; removed: number } {
  const source = text.replaceAll(/\r\n?/g, '\n');
  const flags = new Set<number>();
  for (const { index, 0: flag } of source.matchAll(TAG_FLAGS)) {
    for (let at = index; at < index + flag.length; at++) flags.add(at);
  }
  let removed = 0;
  const stripped = source.replace(INVISIBLE, (char, at: number) => {
    if (flags.has(at) || isSpelling(char, source.slice(Math.max(0, at - 2), at))) return char;
    removed++;
    return '';
  });
  return { text: stripped, removed };
}

function isSpelling(char: string, before: string): boolean {
  if (char === '\u200d') return EMOJI.test(before) || before.endsWith('\ufe0f') || JOINING.test(before);
  if (char === '\u200c') return JOINING.test(before);
  return char === '\ufe0f' && EMOJI.test(before);
}
