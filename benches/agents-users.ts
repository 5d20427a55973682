type End = () => Promise<unknown>;

const open = new Set<End>();

/** Notes what uses the bench's database and how it is ended, until it has been. */
export function noteUser(end: End): End {
  open.add(end);
  return () => end().finally(() => open.delete(end));
}

/** Ends all that is still open: a database that somebody connects to again and again cannot be dropped. */
export async function endUsers(): Promise<void> {
  await Promise.allSettled([...open].map((end) => end()));
}
