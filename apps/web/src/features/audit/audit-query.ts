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
  const first = toMoment(from, '00:00:00.000');
  const last = toMoment(to, '23:59:59.999');
  return new URLSearchParams({
    ...(text === '' ? {} : { q: text }),
    ...(action === '' ? {} : { action }),
    ...(first === null ? {} : { from: first.toISOString() }),
    ...(last === null ? {} : { to: last.toISOString() }),
    ...(cursor === null ? {} : { cursor }),
  });
}

/** `null` for what is no day: an address is written by hand too, and of a year that is being typed the field says 0002. */
function toMoment(day: string, time: string): Date | null {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/u.test(day)) return null;
  const at = new Date(`${day}T${time}`);
  return Number.isNaN(at.getTime()) ? null : at;
}
