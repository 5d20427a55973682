/** A JSON document on one line. What a terminal could take for a command is escaped; the value stays the same. */
export function toJsonLine(value: unknown): string {
  // JSON.stringify escapes C0 and lone surrogates, not DEL and C1, and some terminals act on C1.
  return JSON.stringify(value).replace(
    /[\x7f-\x9f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
