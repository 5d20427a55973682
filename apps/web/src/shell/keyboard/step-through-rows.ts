/**
 * Moves the focus through the rows of the page's list (`data-row`) and its approval cards, by one. Within a row it goes
 * on from there; from elsewhere it begins at the first row that is in sight.
 */
export function stepThroughRows(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('#content :is([data-row], [data-approval])')];
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at === -1 ? rows.find(isInSight) : rows[at + by];
  if (next === undefined) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}

function isInSight(row: HTMLElement): boolean {
  const { top, bottom } = row.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}
