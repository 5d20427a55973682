import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toAuditQuery } from './audit-query.ts';

const ALL = { text: '', action: '', from: '', to: '' };
const ask = (filter: Partial<typeof ALL>, cursor: string | null = null) =>
  Object.fromEntries(toAuditQuery({ ...ALL, ...filter }, cursor));

describe('what is asked of the audit trail', () => {
  const zone = process.env['TZ'];
  beforeEach(() => {
    process.env['TZ'] = 'Europe/Madrid';
  });
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  it('is nothing that is not searched for', () => {
    expect(ask({})).toEqual({});
    expect(ask({ text: 'a b', action: 'sign-in.done' }, 'next')).toEqual({
      q: 'a b',
      action: 'sign-in.done',
      cursor: 'next',
    });
  });

  it('is whole days of the zone of the browser, also when the clock changes', () => {
    expect(ask({ from: '2026-11-30', to: '2026-11-30' })).toEqual({
      from: '2026-11-29T23:00:00.000Z',
      to: '2026-11-30T23:00:00.000Z',
    });
    expect(ask({ from: '2026-10-25', to: '2026-10-25' })).toEqual({
      from: '2026-10-24T22:00:00.000Z',
      to: '2026-10-25T23:00:00.000Z',
    });
  });

  it('leaves out what is no day', () => {
    expect(ask({ from: 'yesterday', to: '2026-13-45' })).toEqual({});
    expect(ask({ from: '0202-01-01' })).toEqual({});
  });
});
