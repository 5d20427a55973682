import { describe, expect, it } from 'vitest';
import { terminalToText } from './terminal-to-text.ts';

const ESC = '\u001b';
const HOSTILE = `${ESC}[31mred${ESC}[0m ${ESC}]8;;javascript:alert(1)${ESC}\\click${ESC}]8;;\u0007 ${ESC}]0;title\u0007 ${ESC}]52;c;ZXZpbA==\u0007 end`;

describe('terminal output as text', () => {
  it('drops colours, links, titles and clipboard writes, and keeps the words', () => {
    expect(terminalToText(HOSTILE)).toBe('red click   end');
  });

  it('shows the last state of a line that was written over', () => {
    expect(terminalToText(`${HOSTILE} ${ESC}[2J${ESC}[1A\rover`)).toBe('over');
    const progress = Array.from({ length: 5000 }, (_, at) => `\r${at + 1} of 5000`).join('');
    expect(terminalToText(`start\n${progress}\ndone`)).toBe('start\n5000 of 5000\ndone');
    expect(terminalToText('a line\r\nanother\r\n')).toBe('a line\nanother\n');
    expect(terminalToText('almos\bst')).toBe('almost');
  });

  it('does not care where the output was cut: nothing of a cut sequence shows', () => {
    const whole = `${HOSTILE}\r\nok ${ESC}[1;32mgreen${ESC}[m ${ESC}Pq#0${ESC}\\x`;
    for (let at = 0; at <= whole.length; at += 1) {
      const partial = terminalToText(whole.slice(0, at));
      expect(partial).not.toContain(ESC);
      expect(partial).not.toMatch(/\[3|\]8|\]52|;;|javascript|ZXZ|title|;32m/u);
      expect(terminalToText(whole.slice(0, at) + whole.slice(at))).toBe('red click   end\nok green x');
    }
  });

  it('knows the 8-bit forms and drops other controls', () => {
    expect(terminalToText('\u009b31mred\u009d0;t\u009c\u0000\u0007!')).toBe('red!');
  });

  it('shows half an emoji as a replacement character, not as a broken string', () => {
    expect(terminalToText('a\ud83e')).toBe('a\ufffd');
  });

  it('is quick on a long hostile text', () => {
    const from = performance.now();
    terminalToText(`${ESC}]`.repeat(50_000));
    terminalToText(`${ESC}[`.repeat(50_000) + 'x'.repeat(100_000));
    expect(performance.now() - from).toBeLessThan(2000);
  });
});
