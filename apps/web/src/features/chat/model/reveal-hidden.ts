/** A piece of a text: as it is, or a character that would not show, with its code point. */
export type TextPiece = { kind: 'text'; text: string } | { kind: 'hidden'; code: string };

/**
 * Characters that do not show or that change the reading direction: controls, bidi marks, zero-width, tags, variation
 * selectors, fillers, every space that is not a plain one, private use and lone surrogates.
 */
const HIDDEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\ue000-\uf8ff\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/u;

/** A text in pieces, so that what is shown is what is there. Joiners within an emoji stay as they are. */
export function revealHidden(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let plain = '';
  let before = '';
  for (const character of text) {
    if (HIDDEN.test(character) && !isWithinEmoji(character, before)) {
      if (plain !== '') pieces.push({ kind: 'text', text: plain });
      plain = '';
      pieces.push({ kind: 'hidden', code: toCode(character) });
    } else plain += character;
    before = character;
  }
  if (plain !== '') pieces.push({ kind: 'text', text: plain });
  return pieces;
}

function isWithinEmoji(character: string, before: string): boolean {
  if (character === '\ufe0f') return /\p{Extended_Pictographic}/u.test(before);
  return character === '\u200d' && /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u.test(before);
}

function toCode(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
