const AROUND = 120;

/**
 * Where two JSON values first differ, and both sides there, for people. `null` when they are equal.
 */
export function describeDifference(recorded: unknown, now: unknown, path = ''): string | null {
  if (Object.is(recorded, now)) return null;
  if (typeof recorded === 'string' && typeof now === 'string') return differentTexts(recorded, now, path);
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(recorded.length, now.length); index += 1) {
      const found = describeDifference(recorded[index], now[index], `${path}[${index}]`);
      if (found !== null) return found;
    }
    return null;
  }
  if (isObject(recorded) && isObject(now)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const found = describeDifference(recorded[key], now[key], path === '' ? key : `${path}.${key}`);
      if (found !== null) return found;
    }
    return null;
  }
  return bothSides(path, show(recorded), show(now));
}

function differentTexts(recorded: string, now: string, path: string): string {
  let at = 0;
  while (at < Math.min(recorded.length, now.length) && recorded[at] === now[at]) at += 1;
  const start = Math.max(0, at - AROUND);
  const cut = (text: string): string => {
    const end = at + AROUND;
    return `${start > 0 ? '…' : ''}${text.slice(start, end).toWellFormed()}${end < text.length ? '…' : ''}`;
  };
  return bothSides(`${path}, character ${at}`, cut(recorded), cut(now));
}

function bothSides(place: string, recorded: string, now: string): string {
  return `at ${place}\n--- recorded ---\n${recorded}\n--- now ---\n${now}`;
}

function show(value: unknown): string {
  if (value === undefined) return '(nothing)';
  const text = JSON.stringify(value);
  return text.length <= 2 * AROUND ? text : `${text.slice(0, 2 * AROUND).toWellFormed()}…`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
