/** How numbers and times read. All are tabular in the interface. */

/** 840 ms, 4.2 s, 3 min 05 s, 2 h 07 min. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Whole seconds, for a timer that runs: 0:07, 12:30, 1:02:03. */
export function formatTimer(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const tail = `${String(Math.floor(seconds / 60) % 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const hours = Math.floor(seconds / 3600);
  return hours === 0 ? tail : `${hours}:${tail.padStart(5, '0')}`;
}

/** 940, 12.3k, 1.2M; in Spanish 12,3 mil and 1,2 M. Cut, not rounded: never more than there is. */
export function formatCount(count: number, language: string): string {
  const format = numberFormat(language, {
    notation: 'compact',
    maximumFractionDigits: 1,
    maximumSignificantDigits: 3,
    roundingPriority: 'lessPrecision',
    roundingMode: 'floor',
  });
  // English writes a large K, which reads as a unit beside M.
  return format.format(count).replace('K', 'k');
}

/** US dollars, $0.05 or 0,05 $; `null` (no price is known) is never shown as 0. */
export function formatCost(costUsd: number | null, unknown: string, language: string): string {
  if (costUsd === null) return unknown;
  const digits = costUsd === 0 ? 0 : costUsd < 0.01 ? 4 : 2;
  const format = numberFormat(language, {
    style: 'currency',
    currency: 'USD',
    // Else some languages write US$, or USD after the number.
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(costUsd);
}

const numberFormats = new Map<string, Intl.NumberFormat>();

/** Making a format costs more than using it many times, and long lists are drawn again while tasks run. */
function numberFormat(language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify([language, options]);
  const known = numberFormats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat(language, options);
  numberFormats.set(key, made);
  return made;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

/** The day and the time, in the person's language and zone. */
export function formatMoment(at: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}

/** The time, for something of today; else the day as well. */
export function formatClock(at: string, language: string, now: Date = new Date()): string {
  const then = new Date(at);
  const isToday = then.toDateString() === now.toDateString();
  return new Intl.DateTimeFormat(
    language,
    isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' },
  ).format(then);
}
