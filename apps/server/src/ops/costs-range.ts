import { AppError } from '../kernel/app-error.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;

/** Days are `YYYY-MM-DD`, both ends included. */
export interface DayRange {
  from: string;
  to: string;
}

/** Days as a request names them. */
export interface AskedDays {
  from?: string | undefined;
  to?: string | undefined;
  days: number;
}

/** A day so many days later (or, below zero, earlier). */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** How many days a range has. */
export function countDays({ from, to }: DayRange): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
}

/**
 * The days that were asked for; those up to today where an end is open, and so many where the beginning is.
 * @throws AppError `costs.bad-range` (422).
 */
export function toDayRange(asked: AskedDays, today: string): DayRange {
  const to = asked.to ?? today;
  const range = { from: asked.from ?? addDays(to, 1 - asked.days), to };
  if (range.from > range.to) throw badRange('query.from', 'after the last day');
  if (countDays(range) > MAX_DAYS) throw badRange('query.from', `more than ${MAX_DAYS} days before the last`);
  return range;
}

function badRange(path: string, message: string): AppError {
  return new AppError('costs.bad-range', 'These days cannot be shown.', {
    status: 422,
    hint: `Give a first day that is not after the last one, at most ${MAX_DAYS} days in all.`,
    errors: [{ path, message }],
  });
}
