import { describe, expect, it } from 'vitest';
import { maskingAlso, maskSecrets } from './mask-secrets.ts';
import { ValueMask } from './value-mask.ts';

const VALUE = 'pa$$ "wörd"/+?&=%\\ 42';
const mask = new ValueMask([
  { name: 'PASS', value: VALUE },
  { name: 'SHORT', value: 'abcde' },
  { name: 'LONGER', value: 'sunny-day-in-may' },
  { name: 'INNER', value: 'sunny-day' },
  {
    name: 'KEY',
    value: '-----BEGIN X-----\r\nline one of the key\nline two of the key\n}\n-----END X-----\n',
  },
]);

describe('values of named secrets', () => {
  it.each([
    ['as it is', VALUE],
    ['in a URL', encodeURIComponent(VALUE)],
    ['in a form', new URLSearchParams({ x: VALUE }).toString().slice(2)],
    ['in JSON', JSON.stringify(VALUE).slice(1, -1)],
    ['in base64', Buffer.from(VALUE).toString('base64')],
    ['in base64url', Buffer.from(VALUE).toString('base64url')],
  ])('are masked %s', (_, form) => {
    for (const [before, after] of [
      ['', ''],
      ['x', 'y'],
      ['"', '"'],
    ]) {
      const masked = mask.mask(`${before}${form}${after}`);
      expect(masked).toContain('[secret PASS masked]');
      expect(masked.length).toBeLessThan('[secret PASS masked]'.length + 6);
    }
  });

  it.each([0, 1, 2])('are masked in the base64 of a longer text, %i bytes in', (offset) => {
    const text = Buffer.from(`${'u'.repeat(offset)}${VALUE}:more`).toString('base64');
    expect(mask.mask(text)).toContain('[secret PASS masked]');
  });

  it('are masked line by line, but not the frame around a key', () => {
    expect(mask.mask('a\nline two of the key\nb')).toBe('a\n[secret KEY masked]\nb');
    expect(mask.mask('-----BEGIN X----- }')).toBe('-----BEGIN X----- }');
  });

  it('are left alone when they are too short, and the longest is taken', () => {
    expect(mask.mask('abcde sunny-day-in-may sunny-day')).toBe(
      'abcde [secret LONGER masked] [secret INNER masked]',
    );
    expect(mask.mask('sunny-day-in-marchsunny-day')).toBe(
      '[secret INNER masked]-in-march[secret INNER masked]',
    );
  });

  it('are masked at the very beginning and end, and many times', () => {
    expect(mask.mask('sunny-daysunny-day')).toBe('[secret INNER masked][secret INNER masked]');
    expect(new ValueMask([{ name: 'A', value: '111111' }]).mask('1111111111111')).toBe(
      '[secret A masked][secret A masked]1',
    );
  });

  it('are masked for work done for their user, and for no other', async () => {
    const current = { current: mask };
    const seen = await maskingAlso(current, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return maskSecrets('it is sunny-day');
    });
    expect(seen).toBe('it is [secret INNER masked]');
    expect(maskSecrets('it is sunny-day')).toBe('it is sunny-day');
    const changed = maskingAlso(current, () => {
      current.current = new ValueMask();
      return maskSecrets('it is sunny-day');
    });
    expect(changed).toBe('it is sunny-day');
  });
});
