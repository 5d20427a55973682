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

/** 940, 12.3k, 1.2M. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${trim(count / 1000)}k`;
  return `${trim(count / 1_000_000)}M`;
}
function trim(value: number): string {
  return (value < 100 ? Math.floor(value * 10) / 10 : Math.floor(value)).toString();
}

/** US dollars; `null` (no price is known) is never shown as 0. */
export function formatCost(costUsd: number | null, unknown: string): string {
  if (costUsd === null) return unknown;
  if (costUsd === 0) return '$0';
  if (costUsd < 0.01) return `$${costUsd.toFixed(4)}`;
  return `$${costUsd.toFixed(2)}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
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
