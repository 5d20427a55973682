/** Each path by its last names, as few as tell it from the others: `…/app`, or `…/old/app` and `…/new/app`. */
export function shortenPaths(paths: readonly string[]): string[] {
  return paths.map((path) => {
    const names = path.split('/').filter((name) => name !== '');
    const others = paths.filter((other) => other !== path);
    for (let count = 1; count < names.length; count += 1) {
      const end = `/${names.slice(-count).join('/')}`;
      if (!others.some((other) => other.endsWith(end))) return `…${end}`;
    }
    return path;
  });
}
