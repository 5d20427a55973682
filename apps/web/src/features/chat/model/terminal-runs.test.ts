import { describe, expect, it } from 'vitest';
import { EventMaker, idOf } from '../../../testing/event-maker.ts';
import { EMPTY_LOG, foldConversation } from './fold-conversation.ts';
import { terminalToRuns, terminalToText } from './terminal-runs.ts';

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

/** The runs of an output, each with what is special about its look. */
function looks(raw: string) {
  return terminalToRuns(raw).map(({ text, look }) => [
    text,
    ...Object.entries(look).flatMap(([name, value]) =>
      value === null || value === false ? [] : [`${name}=${value}`],
    ),
  ]);
}

describe('terminal output with its colours', () => {
  it('reads the colours of the palette, of 256 and true ones, and resets them', () => {
    expect(looks(`${ESC}[1;31mred${ESC}[0m plain ${ESC}[92mbright${ESC}[39m${ESC}[44mtint`)).toEqual([
      ['red', 'hue=red', 'isBold=true'],
      [' plain '],
      ['bright', 'hue=green'],
      ['tint', 'tint=blue'],
    ]);
    expect(looks(`${ESC}[38;5;208mo${ESC}[38;2;10;200;210mc${ESC}[38:2::200:0:190mm${ESC}[mx`)).toEqual([
      ['o', 'hue=yellow'],
      ['c', 'hue=cyan'],
      ['m', 'hue=magenta'],
      ['x'],
    ]);
  });

  it('keeps the colours of the last state of a line, whatever stood there before', () => {
    const bar = `${ESC}[33m10 %${ESC}[0m\r${ESC}[32m100 %${ESC}[0m done`;
    expect(looks(bar)).toEqual([['100 %', 'hue=green'], [' done']]);
    expect(looks(`a long line\r${ESC}[31mno`)).toEqual([['no', 'hue=red']]);
    expect(looks('|\b/\b-\b')).toEqual([['-']]);
  });

  it('makes links of http and https alone, and the words of every other one stay', () => {
    const link = (to: string) => `${ESC}]8;id=1;${to}${ESC}\\click${ESC}]8;;\u0007 on`;
    expect(looks(link('https://example.com/a'))).toEqual([['click', 'link=https://example.com/a'], [' on']]);
    for (const to of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      '//evil.test',
      'https://',
    ])
      expect(looks(link(to))).toEqual([['click on']]);
  });

  it('ignores what no terminal knows', () => {
    expect(looks(`${ESC}[999;38;5mx${ESC}[38;9my${ESC}[?25lz`)).toEqual([['xyz']]);
  });

  it('is the same wherever the output was cut into events', () => {
    const whole = `${HOSTILE} ${ESC}[2J${ESC}[1A\r${ESC}[31mover🦊${ESC}[0m\n${ESC}]8;;https://a.test${ESC}\\l${ESC}]8;;\u0007`;
    const expected = terminalToRuns(whole);
    for (let at = 0; at <= whole.length; at += 1) {
      const make = new EventMaker();
      const task = idOf(1);
      const events = [
        make.starting(task, 'c', 'run_command', {}),
        make.progress(task, 'c', whole.slice(0, at)),
        make.progress(task, 'c', whole.slice(at)),
      ];
      const item = foldConversation(EMPTY_LOG, events).view.items[0];
      expect(item?.kind === 'tool' && terminalToRuns(item.output)).toEqual(expected);
    }
  });
});
