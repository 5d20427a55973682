import { describe, expect, it } from 'vitest';
import { addDays, toDayRange } from './costs-range.ts';
import { forecastMonth } from './forecast-month.ts';

const days = (from: string, count: number, usd: number) =>
  new Map(Array.from({ length: count }, (_, i) => [addDays(from, i), usd] as const));

describe('the forecast of a month', () => {
  it('goes on as the last 14 whole days, today as it stands', () => {
    const spent = new Map([...days('2026-11-01', 19, 2), ['2026-11-20', 5] as const]);
    expect(forecastMonth(spent, '2026-11-20')).toEqual({
      monthUsd: 38 + 5 + 2 * 10,
      spentThisMonthUsd: 43,
      perDayUsd: 2,
      basedOnDays: 14,
    });
  });
  it('counts the days without use between, and looks back over the turn of a month', () => {
    const spent = new Map([['2026-10-26', 7] as const, ['2026-11-01', 7] as const]);
    const forecast = forecastMonth(spent, '2026-11-02');
    expect(forecast).toMatchObject({ basedOnDays: 7, perDayUsd: 2, spentThisMonthUsd: 7, monthUsd: 7 + 56 });
  });
  it('knows the length of a month', () => {
    expect(forecastMonth(days('2028-02-01', 27, 1), '2028-02-28')?.monthUsd).toBe(28);
    expect(forecastMonth(days('2026-12-01', 30, 1), '2026-12-31')?.monthUsd).toBe(30);
  });
  it('says nothing with less than three days to go by', () => {
    expect(forecastMonth(new Map(), '2026-11-20')).toBeNull();
    expect(forecastMonth(days('2026-11-18', 2, 1), '2026-11-20')).toBeNull();
    expect(forecastMonth(days('2026-11-17', 3, 1), '2026-11-20')?.basedOnDays).toBe(3);
    // Use that is too long ago says nothing of now.
    expect(forecastMonth(days('2026-10-01', 20, 1), '2026-11-20')).toBeNull();
  });
});

describe('the days of the costs', () => {
  it('are the last thirty unless they are named', () => {
    expect(toDayRange({ days: 30 }, '2026-03-01')).toEqual({ from: '2026-01-31', to: '2026-03-01' });
    expect(toDayRange({ days: 1 }, '2026-03-01')).toEqual({ from: '2026-03-01', to: '2026-03-01' });
    expect(toDayRange({ to: '2026-02-10', days: 30 }, '2026-03-01')).toEqual({
      from: '2026-01-12',
      to: '2026-02-10',
    });
    expect(toDayRange({ from: '2026-02-10', days: 30 }, '2026-03-01')).toEqual({
      from: '2026-02-10',
      to: '2026-03-01',
    });
    expect(toDayRange({ from: '2026-01-01', to: '2027-01-01', days: 30 }, '2026-03-01')).toBeDefined();
  });
  it.each([
    { from: '2026-02-02', to: '2026-02-01' },
    { from: '2026-01-01', to: '2027-01-02' },
    { from: '2026-03-02' },
  ])('cannot be %o', (asked) => {
    expect(() => toDayRange({ ...asked, days: 30 }, '2026-03-01')).toThrowError(
      expect.objectContaining({ code: 'costs.bad-range', status: 422 }) as Error,
    );
  });
});
