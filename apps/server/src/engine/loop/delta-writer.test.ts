import { describe, expect, it } from 'vitest';
import { DeltaWriter } from './delta-writer.ts';

function open(holdsBackSecrets: boolean) {
  const written: string[] = [];
  const writer = new DeltaWriter({
    everyMs: 0,
    maxLength: 64,
    holdsBackSecrets,
    write: (text) => Promise.resolve(void written.push(text)),
  });
  return { writer, written };
}
const token = `ghp_${'A1b2'.repeat(9)}`;
const pause = () => new Promise((resolve) => setTimeout(resolve, 2));

describe('coalescing deltas', () => {
  it('keeps order and loses nothing', async () => {
    const { writer, written } = open(false);
    for (let n = 0; n < 200; n += 1) await writer.push(`${n} `);
    await writer.finish();
    expect(written.join('')).toBe(Array.from({ length: 200 }, (_, n) => `${n} `).join(''));
    expect(written.length).toBeLessThan(200);
  });

  it.each([
    ['a token cut in two', [`key ${token.slice(0, 20)}`, `${token.slice(20)}\nnext\n`], token.slice(0, 20)],
    ['a header cut before its token', ['Authorization: Bearer ', `${'x1Y2'.repeat(10)}\n`], 'x1Y2x1Y2'],
    [
      'a private key that comes line by line',
      [
        '-----BEGIN PRIVATE KEY-----\n',
        'MIIEvQIBADANBgkq\n',
        'hkiG9w0BAQEFAASC\n',
        '-----END PRIVATE KEY-----\nafter\n',
      ],
      'hkiG9w0BAQEFAASC',
    ],
  ])('shows no half of %s', async (_, chunks, secret) => {
    const { writer, written } = open(true);
    for (const chunk of chunks) {
      await writer.push(chunk);
      await pause();
    }
    await writer.finish();
    expect(written.join('')).not.toContain(secret);
    expect(written.join('')).toMatch(/masked/);
  });

  it('does not write an event a push while a long line waits', async () => {
    const { writer, written } = open(true);
    for (let n = 0; n < 6_000; n += 1) await writer.push('.');
    await writer.finish();
    expect(written.join('')).toBe('.'.repeat(6_000));
    expect(written.length).toBeLessThan(100);
  });

  it('says nothing after its end, and tells of a write that failed', async () => {
    const { writer, written } = open(false);
    await writer.finish();
    await writer.push('late');
    expect(written).toEqual([]);
    const failing = new DeltaWriter({
      everyMs: 0,
      maxLength: 1,
      write: () => Promise.reject(new Error('lost')),
    });
    await expect(failing.push('text')).rejects.toThrow('lost');
    await expect(failing.finish()).rejects.toThrow('lost');
  });
});
