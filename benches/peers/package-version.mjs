import { readFileSync } from 'node:fs';

/** `name version` of a package installed here. */
export function packageVersion(name) {
  const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
  return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`;
}
