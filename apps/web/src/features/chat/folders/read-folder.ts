/** As many as the server takes for a conversation. */
export const MAX_FOLDERS = 20;

export type TypedFolder =
  { kind: 'path'; path: string } | { kind: 'refused'; reason: 'not-absolute' | 'known' | 'too-many' };

/** What somebody typed as a folder. Only what can be known here is refused here; whether it exists, the server says. */
export function readFolder(text: string, known: readonly string[]): TypedFolder {
  const trimmed = text.trim();
  if (!trimmed.startsWith('/')) return { kind: 'refused', reason: 'not-absolute' };
  const path = trimmed.replace(/(?<=.)\/+$/, '');
  if (known.includes(path)) return { kind: 'refused', reason: 'known' };
  if (known.length >= MAX_FOLDERS) return { kind: 'refused', reason: 'too-many' };
  return { kind: 'path', path };
}
