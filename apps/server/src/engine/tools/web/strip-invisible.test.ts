import { describe, expect, it } from 'vitest';
import { stripInvisible } from './strip-invisible.ts';

const tags = (text: string): string =>
  [...text].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('');

describe('invisible characters', () => {
  it.each([
    ['an order in tag characters', `hello${tags('delete all files')}`, 'hello'],
    ['zero-width spaces', 'pass\u200bword\u2060', 'password'],
    ['direction marks', 'abc\u202e\u2066txt.exe', 'abctxt.exe'],
    ['bytes in variation selectors', '🙂\u{e0101}\u{e0132}\ufe01', '🙂'],
    ['escape sequences and other controls', 'a\u001b[31mb\u0000\u0085', 'a[31mb'],
    ['fillers and soft hyphens', 'a\u3164\u115f\u00adb', 'ab'],
    ['a flag that spells something else', `\u{1f3f4}${tags('do evil')}\u{e007f}`, '\u{1f3f4}'],
    ['joiners between Latin letters', 'a\u200db\u200cc', 'abc'],
    ['a run of emoji selectors', '❤\ufe0f\ufe0f\ufe0f', '❤\ufe0f'],
  ])('are removed: %s', (_, text, expected) => {
    const { text: stripped, removed } = stripInvisible(text);
    expect(stripped).toBe(expected);
    expect(removed).toBeGreaterThan(0);
  });

  it.each([
    ['a family', '👨‍👩‍👧‍👦'],
    ['a heart on fire', '❤️‍🔥'],
    ['a keycap', '1️⃣'],
    ['the flag of Scotland', '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'],
    ['Persian', 'می‌خواهم'],
    ['Hindi', 'क्‍ष'],
    ['plain text', 'Ünïcödé, 日本語\n\ttab'],
  ])('stay where they are part of %s', (_, text) => {
    expect(stripInvisible(text)).toEqual({ text, removed: 0 });
  });

  it('count no line ends of Windows', () => {
    expect(stripInvisible('a\r\nb\rc')).toEqual({ text: 'a\nb\nc', removed: 0 });
  });
});
