import { describe, expect, it } from 'vitest';
import { replaceExactly } from './text-edit.ts';

const TEXT = 'one\n  two\nthree\n  two\n';
const problemOf = (...args: Parameters<typeof replaceExactly>): string => {
  const outcome = replaceExactly(...args);
  return 'problem' in outcome ? outcome.problem : 'no problem';
};

describe('an edit', () => {
  it('replaces one exact place', () => {
    expect(replaceExactly(TEXT, 'one\n', '1\n', false)).toEqual({
      text: '1\n  two\nthree\n  two\n',
      count: 1,
    });
  });

  it('takes special characters of replacements as they are', () => {
    expect(replaceExactly('a', 'a', '$&$1', false)).toEqual({ text: '$&$1', count: 1 });
  });

  it('replaces every place only when told', () => {
    expect(problemOf(TEXT, 'two', '2', false)).toContain('occurs 2 times, at lines 2, 4');
    expect(replaceExactly(TEXT, 'two', '2', true)).toEqual({ text: 'one\n  2\nthree\n  2\n', count: 2 });
  });

  it('shows the place that differs in white space only', () => {
    expect(problemOf(TEXT, 'two\nthree', 'x', false)).toBe('no problem');
    expect(problemOf(TEXT, '\ttwo\n  three', 'x', false)).toContain(
      'At line 2 it occurs with other white space:\n  two\nthree',
    );
  });

  it('shows the nearest lines', () => {
    const text = 'const alpha = 1;\nconst beta = 2;\nfunction run() {}\n';
    expect(problemOf(text, 'const alpha = 2;', 'x', false)).toContain('\n1: const alpha = 1;');
    expect(problemOf(text, 'zzzzzz', 'x', false)).not.toContain('nearest');
  });

  it('refuses what changes nothing', () => {
    expect(problemOf(TEXT, '', 'x', false)).toContain('empty');
    expect(problemOf(TEXT, 'one', 'one', false)).toContain('the same');
  });
});
