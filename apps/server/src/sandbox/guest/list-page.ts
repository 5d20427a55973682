/** The most entries that one listing looks through. */
export const MAX_ENTRIES = 500_000;

/**
 * One page of entries, sorted by the bytes of their names (byte strings). It begins after the name that the page
 * before ended with, so files that come and go meanwhile make no other entry double or missing. Sorts `found` itself.
 * @param cursor `nextCursor` of the page before: base64url of its last name.
 */
export function pageOf<Entry extends { name: string }>(
  found: Entry[],
  cursor: string | null,
  limit: number,
): { page: Entry[]; nextCursor: string | null } {
  found.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const start = cursor === null ? 0 : firstAfter(found, Buffer.from(cursor, 'base64url').toString('latin1'));
  const page = found.slice(start, start + limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && start + page.length < found.length;
  return { page, nextCursor: hasMore ? Buffer.from(last.name, 'latin1').toString('base64url') : null };
}

function firstAfter(sorted: { name: string }[], name: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.name ?? '') <= name) low = middle + 1;
    else high = middle;
  }
  return low;
}
