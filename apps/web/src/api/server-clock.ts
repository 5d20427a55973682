/** How far the server's clock is ahead of this machine's, in milliseconds. */
let ahead = 0;

/** A `Date` header says whole seconds, and an answer is on its way for a while: less than this is no difference. */
const TOLERANCE_MS = 3_000;

/** Notes the server's time from the `Date` header of an answer that has just come. */
export function noteServerDate(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return;
  const difference = at - Date.now();
  if (Math.abs(difference - ahead) > TOLERANCE_MS)
    ahead = Math.abs(difference) > TOLERANCE_MS ? difference : 0;
}

/** Now, by the clock that wrote the times of the events. */
export function serverNow(): number {
  return Date.now() + ahead;
}
