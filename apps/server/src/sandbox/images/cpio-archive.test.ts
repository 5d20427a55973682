import { expect, it } from 'vitest';
import { makeCpio } from './cpio-archive.ts';

const archive = makeCpio([
  { path: 'dev', mode: 0o755, content: null },
  { path: 'init', mode: 0o755, content: Buffer.from('#!') },
]);

it('an archive is what the kernel documents as newc', () => {
  const text = archive.toString('latin1');
  const field = (start: number, at: number) =>
    Number.parseInt(text.slice(start + 6 + at * 8, start + 14 + at * 8), 16);
  expect(text.slice(0, 6)).toBe('070701');
  expect(field(0, 1)).toBe(0o040755);
  expect(text.slice(110, 114)).toBe('dev\0');
  // 110 bytes of header and 4 of the name are padded to 116.
  const second = 116;
  expect(text.slice(second, second + 6)).toBe('070701');
  expect([field(second, 1), field(second, 6), field(second, 11)]).toEqual([0o100755, 2, 5]);
  expect(text.slice(second + 110, second + 120)).toBe('init\0\0#!\0\0');
  expect(text.slice(236 + 110, 236 + 120)).toBe('TRAILER!!!');
});

it('the same files are the same bytes, in whole blocks of four', () => {
  expect(archive.length % 4).toBe(0);
  expect(makeCpio([])).toEqual(makeCpio([]));
});
