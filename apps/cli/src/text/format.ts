/** Durations for people: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const pad = (value: number) => String(value).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
}

/** US dollars; `null` is an unknown cost, which is not a cost of nothing. */
export function formatCost(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return 'cost unknown';
  if (usd === 0) return '$0.00';
  if (usd < 0.0001) return '< $0.0001';
  return usd < 0.1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** Sizes for people: `812 B`, `64 KB`, `211 MB`, `1.4 GB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (Math.round(value) >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? ''}`;
}

/** How long ago a time was: `just now`, `4 min ago`, `3 h ago`, `2 days ago`. */
export function formatAge(time: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(time)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

/** The time of day in the terminal's own zone. */
export function formatClock(time: string): string {
  return new Date(time).toTimeString().slice(0, 8);
}

/** The end of an id: the beginnings of ids that were made in the same minute are alike. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** At most `max` columns, counted with care: everything outside ASCII counts double. Cut at a whole character. */
export function fitColumns(text: string, max: number): string {
  const parts = [
    ...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text.slice(0, max * 8)),
  ];
  let columns = 0;
  let out = '';
  for (const { segment } of parts) {
    columns += isAscii(segment) ? 1 : 2;
    if (columns > max) return `${dropLast(out)}…`;
    out += segment;
  }
  return out;
}

function dropLast(text: string): string {
  const parts = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)];
  return parts
    .slice(0, -1)
    .map((part) => part.segment)
    .join('');
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Rows as columns, padded; the last column is left as it is. */
export function formatTable(rows: string[][]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
