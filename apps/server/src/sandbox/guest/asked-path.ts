/** Paths as callers give them, as byte strings (see odd-names.ts). Neither function looks at the disk. */

/** Absolute, without `.`, `..` and doubled slashes. */
export function normalise(absolute: string): string {
  const parts: string[] = [];
  for (const part of absolute.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** A path tidied for names in replies: relative to the home where it was asked for so, else absolute. */
export function askedPath(path: string, home: string): string {
  if (path.startsWith('/')) return normalise(path);
  const absolute = normalise(`${home}/${path}`);
  if (absolute === home) return '.';
  return absolute.startsWith(`${home}/`) ? absolute.slice(home.length + 1) : absolute;
}

/** What the names in a folder begin with in a reply. */
export function folderPrefix(asked: string): string {
  if (asked === '.') return '';
  return asked === '/' ? '/' : `${asked}/`;
}
