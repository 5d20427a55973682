import { describe, expect, it } from 'vitest';
import { TerminalText, toPlainText } from './terminal-text.ts';

const ESC = '\u001b';
const BEL = '\u0007';
const NASTY =
  `${ESC}[31mred${ESC}[0m ${ESC}]8;;javascript:alert(1)${ESC}\\click${ESC}]8;;${BEL} ${ESC}]0;title${BEL} ` +
  `${ESC}]52;c;ZXZpbA==${BEL} ${ESC}[2J${ESC}[1A\rover`;

describe('text of a terminal', () => {
  it.each([
    ['colours', `${ESC}[1;31mred${ESC}[0m`, 'red'],
    ['hyperlinks', `${ESC}]8;;https://x.test${ESC}\\link${ESC}]8;;${ESC}\\!`, 'link!'],
    ['titles and the clipboard', `a${ESC}]0;t${BEL}b${ESC}]52;c;ZXZpbA==${BEL}c`, 'abc'],
    ['device control strings', `a${ESC}P1$r0m${ESC}\\b`, 'ab'],
    ['character sets and short sequences', `a${ESC}(Bb${ESC}=c${ESC}Md`, 'abcd'],
    ['single-byte forms', 'a\u009b31mb\u009d0;t\u009cc', 'abc'],
    ['private and odd parameters', `a${ESC}[?25lb${ESC}[38:2::1:2:3mc`, 'abc'],
    ['an unfinished sequence at the end', `a${ESC}[31`, 'a'],
    ['a lone escape at the end', `a${ESC}`, 'a'],
    ['rewritten lines', '10%\r50%\r100%\ndone', '100%\ndone'],
    ['Windows line ends', 'a\r\nb\r\r\n', 'a\nb\n'],
    ['a return at the very end', 'abc\r', 'abc'],
    ['backspaces', 'abd\bc', 'abc'],
    ['bells and other controls', 'a\u0007b\u000ec\u007f', 'abc'],
    ['tabs and NUL, which stay', 'a\tb\0', 'a\tb\0'],
    ['a string that is never closed', `a${ESC}]0;title\nnext`, 'a\nnext'],
    ['what g-04 shows', NASTY, 'red click   \nover'],
    ['plain text', 'no change: [31m é 🦊\n', 'no change: [31m é 🦊\n'],
  ])('reads %s', (_, written, text) => {
    expect(toPlainText(written)).toBe(text);
  });

  it('collapses a progress bar of 5,000 updates', () => {
    const bar = Array.from({ length: 5000 }, (_, index) => `\r${ESC}[K${index + 1}/5000`).join('');
    expect(toPlainText(`start\n${bar}\n`)).toBe('start\n5000/5000\n');
  });

  it('gives the same wherever it is cut (g-04)', () => {
    const text = `x🦊${NASTY}\n10%\r${ESC}[K100%\r\n${ESC}Pq${ESC}\\end${ESC}]0;t\u009cz`;
    const whole = toPlainText(text);
    for (let cut = 0; cut <= text.length; cut += 1) {
      const terminal = new TerminalText();
      expect(terminal.push(text.slice(0, cut)) + terminal.push(text.slice(cut)) + terminal.end()).toBe(whole);
    }
    const byUnit = new TerminalText();
    expect([...text].map((char) => byUnit.push(char)).join('') + byUnit.end()).toBe(whole);
    expect(whole).not.toContain(ESC);
  });

  it('holds bounded memory for a line that never ends', () => {
    const terminal = new TerminalText();
    const given = terminal.push('🦊'.repeat(100_000));
    expect(given.length).toBeGreaterThan(100_000);
    expect(given.isWellFormed()).toBe(true);
    expect(given + terminal.end()).toBe('🦊'.repeat(100_000));
  });
});
