/** What is searched for, as it stands in the address; empty where nothing is. The days as `2026-11-30`. */
export interface AuditFilter {
  text: string;
  action: string;
  from: string;
  to: string;
}

/** The query for the server. The days are whole ones of the browser's zone, in which the entries are shown too. */
export function toAuditQuery(
  { text, action, from, to }: AuditFilter,
  cursor: string | null,
): URLSearchParams {
  const first = startOf(from);
  const last = endOf(to);
  return new URLSearchParams({
    ...(text === '' ? {} : { q: text }),
    ...(action === '' ? {} : { action }),
    ...(first === null ? {} : { from: first.toISOString() }),
    ...(last === null ? {} : { to: last.toISOString() }),
    ...(cursor === null ? {} : { cursor }),
  });
}

/** `null` for what is no day: an address is written by hand too, and of a year that is being typed the field says 0002. */
function startOf(day: string): Date | null {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/u.test(day)) return null;
  const at = new Date(`${day}T00:00:00.000`);
  return Number.isNaN(at.getTime()) ? null : at;
}

/** The next day's start, which the server leaves out: a day with a change of the clock has 23 or 25 hours. */
function endOf(day: string): Date | null {
  const at = startOf(day);
  at?.setDate(at.getDate() + 1);
  return at;
}
