/**
 * How long a provider asks to wait, in milliseconds, read from its answer; `null` when it does not say, or says
 * something that is no wait (negative, no number, a time that has passed). Not capped: the caller judges absurd ones.
 * Reads `retry-after-ms`, `retry-after` (seconds or an HTTP date), the limits that are used up in
 * `x-ratelimit-reset…` and `anthropic-ratelimit-…-reset`, and Google's `retryDelay` in the body.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string>>,
  body: string,
  now: number,
): number | null {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]));
  return (
    positive(Number(lower.get('retry-after-ms') || NaN)) ??
    readWait(lower.get('retry-after'), now) ??
    readResets(lower, now) ??
    readWait(/"retryDelay"\s*:\s*"([\d.]+s)"/u.exec(body)?.[1], now)
  );
}

function readResets(headers: ReadonlyMap<string, string>, now: number): number | null {
  let longest: number | null = null;
  for (const [name, value] of headers) {
    if (!/ratelimit-(?:.+-)?reset(?:-.+)?$/u.test(name)) continue;
    const remaining = headers.get(name.replace('reset', 'remaining'));
    if (remaining !== undefined && Number(remaining) > 0) continue;
    const wait = readWait(value, now);
    if (wait !== null && (longest === null || wait > longest)) longest = wait;
  }
  return longest;
}

/** Seconds, `1m30s`, `250ms`, seconds or milliseconds since the epoch, or a date. */
function readWait(text: string | undefined, now: number): number | null {
  if (text === undefined || text === '') return null;
  const number = Number(text);
  if (!Number.isNaN(number)) {
    if (number > 1e12) return positive(number - now);
    if (number > 1e9) return positive(number * 1000 - now);
    return positive(number * 1000);
  }
  return readDuration(text) ?? positive(Date.parse(text) - now);
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readDuration(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/u.test(text)) return null;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/gu)) {
    sum += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  }
  return positive(sum);
}

function positive(ms: number): number | null {
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
