import type { Costs } from '@vitto/contracts';
import { addDays, countDays } from './costs-range.ts';

/** Whole days that a forecast looks back on. */
const LOOK_BACK_DAYS = 14;
const FEWEST_DAYS = 3;

/**
 * What the calendar month comes to: what it has cost until now, and for each day after today as much as the last whole
 * days have cost on average (14, or as many as there are since the first use). Today counts as it stands: it is not over.
 * @param spent US dollars by day, of this month and the 14 days before today at least.
 * @returns `null` with fewer than three whole days to go by.
 */
export function forecastMonth(spent: ReadonlyMap<string, number>, today: string): Costs['forecast'] {
  const window = { from: addDays(today, -LOOK_BACK_DAYS), to: addDays(today, -1) };
  const used = [...spent.keys()].filter((day) => day >= window.from && day <= window.to).sort();
  const first = used[0];
  if (first === undefined) return null;
  const basedOnDays = countDays({ from: first, to: window.to });
  if (basedOnDays < FEWEST_DAYS) return null;
  const perDayUsd = sum(used.map((day) => spent.get(day) ?? 0)) / basedOnDays;
  const month = today.slice(0, 7);
  const spentThisMonthUsd = sum(
    [...spent].filter(([day]) => day.startsWith(month) && day <= today).map(([, usd]) => usd),
  );
  const daysLeft = lastDayOf(month) - Number(today.slice(8));
  return {
    monthUsd: spentThisMonthUsd + perDayUsd * daysLeft,
    spentThisMonthUsd,
    perDayUsd,
    basedOnDays,
  };
}

function lastDayOf(month: string): number {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year ?? 0, number ?? 0, 0)).getUTCDate();
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
