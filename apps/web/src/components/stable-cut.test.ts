import { describe, expect, it } from 'vitest';
import { findStableCut } from './stable-cut.ts';

describe('cutting Markdown that is being written', () => {
  const tail = (text: string) => text.slice(findStableCut(text));
  it('keeps the last paragraph apart', () => {
    expect(tail('One.\n\nTwo.\n\nThr')).toBe('Thr');
    expect(tail('One para')).toBe('One para');
  });
  it('never cuts within a fence, a list or a table', () => {
    expect(tail('```\na\n\nb\n\nc')).toBe('```\na\n\nb\n\nc');
    expect(tail('Text.\n\n- a\n\n- b\n\n  more of b')).toBe('Text.\n\n- a\n\n- b\n\n  more of b');
    expect(tail('1. a\n\n2. b')).toBe('1. a\n\n2. b');
  });
});
