import { describe, expect, it } from 'vitest';
import { findStableCuts, mayStandInParts } from './stable-cuts.ts';

describe('cutting Markdown that is being written', () => {
  const parts = (text: string) => {
    const cuts = findStableCuts(text);
    return cuts.map((from, index) => text.slice(from, cuts[index + 1]));
  };
  it('keeps each paragraph apart', () => {
    expect(parts('One.\n\nTwo.\n\nThr')).toEqual(['One.\n\n', 'Two.\n\n', 'Thr']);
    expect(parts('One para')).toEqual(['One para']);
    expect(parts('')).toEqual(['']);
  });
  it('never cuts within a fence, a list or a table', () => {
    for (const text of ['```\na\n\nb\n\nc', 'Text.\n\n- a\n\n- b\n\n  more of b', '1. a\n\n2. b'])
      expect(parts(text)).toEqual([text]);
  });
  it('knows what closes a fence', () => {
    for (const text of ['````\n```\n\na\n```\n\nb', '```md\n```ts\n\na', '~~~\n```\n\na'])
      expect(parts(text)).toEqual([text]);
    expect(parts('```\na\n```\n\n````\nb\n\n`````\n\nc')).toEqual([
      '```\na\n```\n\n',
      '````\nb\n\n`````\n\n',
      'c',
    ]);
  });
  it('says what must be read as a whole', () => {
    expect(mayStandInParts('See [a](https://a.example).\n\n- b')).toBe(true);
    expect(mayStandInParts('See [a].\n\n[a]: https://a.example')).toBe(false);
    expect(mayStandInParts('<!--\n\na\n\n-->')).toBe(false);
  });
  it('leaves the parts where they were while the text grows', () => {
    const text = '# One\n\nText.\n\n```ts\na\n\nb\n```\n\nAfter.\n\n- a\n\nEnd';
    const whole = findStableCuts(text);
    for (let length = 0; length <= text.length; length += 1) {
      const cuts = findStableCuts(text.slice(0, length));
      expect(whole.slice(0, cuts.length)).toEqual(cuts);
    }
  });
});
