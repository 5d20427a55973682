import { describe, expect, it } from 'vitest';
import { toWellFormedValue } from './well-formed.ts';

describe('a value on its way to a provider', () => {
  it('is the same object when it is well formed', () => {
    const value = { prompt: [{ text: 'a 🦊' }], bytes: new Uint8Array([1]) };
    expect(toWellFormedValue(value)).toBe(value);
  });

  it('loses every half character wherever it is, and shares the rest', () => {
    const fine = { text: 'fine' };
    const bytes = new Uint8Array([1]);
    const value = { list: [fine, { text: 'a\ud83e' }], '\udd8a': bytes };
    const mended = toWellFormedValue(value) as Record<string, unknown>;
    expect(mended).toEqual({ list: [fine, { text: 'a\ufffd' }], '\ufffd': bytes });
    expect((mended['list'] as unknown[])[0]).toBe(fine);
    expect(mended['\ufffd']).toBe(bytes);
    expect(value.list[1]).toEqual({ text: 'a\ud83e' });
  });

  it('is well formed for every cut through an emoji sequence', () => {
    const text = 'ab👨‍👩‍👧🦊\u{1f1e9}\u{1f1ea}z';
    for (let end = 0; end <= text.length; end += 1) {
      expect(toWellFormedValue({ text: text.slice(0, end) }).text.isWellFormed()).toBe(true);
      expect(toWellFormedValue([text.slice(end)])[0]?.isWellFormed()).toBe(true);
    }
  });
});
