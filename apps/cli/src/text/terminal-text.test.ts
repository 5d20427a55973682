import { expect, test } from 'vitest';
import { lastState, TerminalText, toPlainLine, toPlainText } from './terminal-text.ts';

const HOSTILE =
  '\x1b[31mred\x1b[0m \x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x07 \x1b]0;title\x07 \x1b]52;c;ZXZpbA==\x07 \x1b[2J\x1b[1A\rover';

function pushAll(chunks: string[]): string {
  const cleaner = new TerminalText();
  return chunks.map((chunk) => cleaner.push(chunk)).join('') + cleaner.end();
}

test('colours, links, titles, clipboard writes and cursor moves leave their readable text only', () => {
  expect(pushAll([HOSTILE])).toBe('red click   \rover');
  expect(toPlainText(HOSTILE)).toBe('over');
});

test('the text is the same wherever it is cut', () => {
  const text = `${HOSTILE}\r\n\x9b1mé🦊\x1b(B\x1bPq#0;2\x1b\\end\x1b`;
  const whole = pushAll([text]);
  for (let at = 0; at <= text.length; at += 1) {
    expect(pushAll([text.slice(0, at), text.slice(at)])).toBe(whole);
  }
  expect(pushAll([...text.split('')])).toBe(whole);
  expect(whole).toBe('red click   \rover\né🦊end');
});

test('a sequence that never ends does not swallow the lines after it', () => {
  expect(toPlainText('before \x1b]0;no end\nafter')).toBe('before \nafter');
});

test('a progress bar of thousands of updates shows its last state', () => {
  const bar = Array.from({ length: 5000 }, (_, at) => `\r${at}`).join('');
  expect(toPlainText(`${bar}\ndone`)).toBe('4999\ndone');
  expect(lastState('10%\r100%\r')).toBe('100%');
});

test('half a character becomes the replacement character, and two halves one emoji', () => {
  expect(pushAll(['a\ud83e', '\udd8a'])).toBe('a🦊');
  expect(pushAll(['a\ud83e'])).toBe('a\ufffd');
  expect(pushAll(['\udd8ab'])).toBe('\ufffdb');
});

test('a line for a list has no line ends', () => {
  expect(toPlainLine(' a\n\tb\u001b[1m ')).toBe('a b');
});
