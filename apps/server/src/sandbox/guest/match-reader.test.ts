import { expect, it } from 'vitest';
import { MatchReader } from './match-reader.ts';

const OUTPUT = Buffer.from('src/a\nb.ts\x0012:const x = "🦊:1";\nsrc/c.ts\x003:\n', 'utf8');

it('reads matches whatever pieces they come in', () => {
  for (let cut = 0; cut <= OUTPUT.length; cut += 1) {
    const reader = new MatchReader(10);
    reader.push(OUTPUT.subarray(0, cut));
    reader.push(OUTPUT.subarray(cut));
    expect(reader.matches).toEqual([
      { path: 'src/a\nb.ts', line: 12, text: 'const x = "🦊:1";' },
      { path: 'src/c.ts', line: 3, text: '' },
    ]);
  }
});

it('stops at one match more than was asked for', () => {
  const reader = new MatchReader(1);
  reader.push(OUTPUT);
  expect(reader.isFull).toBe(true);
});

it('keeps a bounded part of a line', () => {
  const reader = new MatchReader(1);
  reader.push(Buffer.from(`f\x001:${'x'.repeat(5000)}\n`));
  expect(reader.matches[0]?.text).toBe(`${'x'.repeat(2000)} [… 3000 bytes more]`);
});
