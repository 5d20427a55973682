import { describe, expect, it } from 'vitest';
import { PLAIN_LOOK } from '../features/chat/model/terminal-look.ts';
import { splitRuns } from './split-runs.ts';

describe('splitting long output', () => {
  const bold = { ...PLAIN_LOOK, isBold: true };
  const split = (texts: string[], max: number) =>
    splitRuns(
      texts.map((text, index) => ({ text, look: index % 2 === 0 ? PLAIN_LOOK : bold })),
      max,
    );
  const texts = (parts: ReturnType<typeof split>) =>
    parts.map((part) => part.map((run) => run.text).join(''));

  it('leaves short output whole', () => {
    expect(split(['a\n', 'b'], 10)).toEqual([
      [
        { text: 'a\n', look: PLAIN_LOOK },
        { text: 'b', look: bold },
      ],
    ]);
  });
  it('cuts after lines, whatever the colours, and keeps the colours', () => {
    const parts = split(['one\ntw', 'o\nthr', 'ee\nfour'], 9);
    expect(texts(parts)).toEqual(['one\ntwo\n', 'three\n', 'four']);
    expect(parts[1]).toEqual([
      { text: 'thr', look: bold },
      { text: 'ee\n', look: PLAIN_LOOK },
    ]);
  });
  it('cuts a line that is too long, never within a character', () => {
    expect(texts(split(['abcdefgh'], 3))).toEqual(['abc', 'def', 'gh']);
    expect(texts(split(['ab😀cd'], 3))).toEqual(['ab', '😀c', 'd']);
  });
  it('loses nothing', () => {
    const pieces = Array.from({ length: 50 }, (_, n) => `${'x'.repeat(n)}\n😀`);
    expect(texts(split(pieces, 16)).join('')).toBe(pieces.join(''));
  });
});
