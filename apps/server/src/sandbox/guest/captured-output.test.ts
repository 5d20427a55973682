import { describe, expect, it } from 'vitest';
import { isBinary, OutputCapture, withoutCutEnd, withoutCutStart } from './captured-output.ts';

describe('captured output', () => {
  it('is whole while it is short, wherever chunks are cut', () => {
    const bytes = Buffer.from('a🦊é\n');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const capture = new OutputCapture(6, 6);
      capture.push(bytes.subarray(0, cut));
      capture.push(bytes.subarray(cut));
      expect(capture.finish()).toEqual({ text: 'a🦊é\n', totalBytes: 8, missingBytes: 0, replaced: false });
    }
  });

  it('keeps head and tail of what is long, without halves of characters', () => {
    const capture = new OutputCapture(6, 6);
    for (const byte of Buffer.from('🦊🦊🦊🦊🦊')) capture.push(Buffer.from([byte]));
    expect(capture.finish()).toEqual({
      text: '🦊\n[… 12 bytes not shown …]\n🦊',
      totalBytes: 20,
      missingBytes: 12,
      replaced: false,
    });
  });

  it('counts what is not at hand, without taking the characters at its borders for broken', () => {
    const fox = Buffer.from('🦊');
    const capture = new OutputCapture(6, 6);
    capture.push(Buffer.concat([fox, fox.subarray(0, 2)]));
    capture.skip(100);
    capture.push(Buffer.concat([fox.subarray(2), fox]));
    expect(capture.finish()).toEqual({
      text: '🦊\n[… 104 bytes not shown …]\n🦊',
      totalBytes: 112,
      missingBytes: 104,
      replaced: false,
    });
  });

  it('says when bytes were no text, an unfinished character at the end included', () => {
    for (const bytes of [[0xff], [0x61, 0xf0, 0x9f]]) {
      const capture = new OutputCapture();
      capture.push(Buffer.from(bytes));
      expect(capture.finish().replaced).toBe(true);
    }
  });
});

it('drops only parts of characters', () => {
  const fox = Buffer.from('a🦊');
  expect(withoutCutEnd(fox).equals(fox)).toBe(true);
  for (const cut of [2, 3, 4]) expect(withoutCutEnd(fox.subarray(0, cut)).toString()).toBe('a');
  for (const cut of [2, 3, 4])
    expect(withoutCutStart(Buffer.from('🦊b').subarray(cut - 1)).toString()).toBe('b');
});

it('takes NUL and broken UTF-8 for binary', () => {
  expect([Buffer.from('é'), Buffer.from('a\0b'), Buffer.from([0xe9])].map(isBinary)).toEqual([
    false,
    true,
    true,
  ]);
});
