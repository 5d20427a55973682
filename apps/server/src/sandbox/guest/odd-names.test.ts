import { describe, expect, it } from 'vitest';
import { toBytes, toPath, toText } from './odd-names.ts';

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

describe('names as text', () => {
  it.each([
    ['plain.txt', 'plain.txt'],
    ['-rf', '-rf'],
    ['a b.txt', 'a b.txt'],
    [bytes('猫 🦊.txt'), '猫 🦊.txt'],
    ['caf\xe9-\xff.txt', 'caf\\xe9-\\xff.txt'],
    ['a\nb', 'a\\x0ab'],
    [' lead', '\\x20lead'],
    ['trail ', 'trail\\x20'],
    ['back\\slash', 'back\\x5cslash'],
    ['fake\\x41', 'fake\\x5cx41'],
    [bytes('a\u202egnp.exe'), 'a\\xe2\\x80\\xaegnp.exe'],
    [bytes('nel\u0085'), 'nel\\xc2\\x85'],
    ['\xf0\x9f\xa6', '\\xf0\\x9f\\xa6'],
    ['dir /x', 'dir\\x20/x'],
    ['/abs/path', '/abs/path'],
  ])('%j is shown as %s and found again by it', (name, text) => {
    expect(toText(name)).toBe(text);
    expect(toBytes(toText(name))).toBe(name);
  });

  it('comes back the same for any bytes', () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647);
    for (let round = 0; round < 2000; round += 1) {
      const name = Array.from({ length: 1 + (random() % 12) }, () =>
        String.fromCharCode(1 + (random() % 255)),
      ).join('');
      expect(toBytes(toText(name))).toBe(name);
      expect(Buffer.from(toText(name), 'utf8').toString('utf8').isWellFormed()).toBe(true);
    }
  });

  it('takes other backslashes as they are', () => {
    expect(toBytes('a\\b\\xzz')).toBe('a\\b\\xzz');
    expect([...toPath(toBytes('\\xff'))]).toEqual([255]);
  });
});
