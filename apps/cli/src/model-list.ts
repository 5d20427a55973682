import { resolve } from 'node:path';
import { CliError, EXIT } from './cli-error.ts';

/** Makes the files of `script:FILE`, `replay:FILE` and `record:FILE` absolute: the server has another working directory. */
export function resolveModelFiles(list: string): string {
  return list
    .split(',')
    .map((entry) => {
      const [, kind, file] = /^\s*(script|replay|record):(.+?)\s*$/su.exec(entry) ?? [];
      return kind === undefined || file === undefined ? entry : fileModel(kind, file);
    })
    .join(',');
}

/** `replay:/absolute/FILE`. A comma in the path would end the entry, so it is refused. */
export function fileModel(kind: string, file: string): string {
  const path = resolve(file);
  if (path.includes(',')) {
    throw new CliError(
      EXIT.usage,
      'cli.bad-file',
      `The path ${path} has a comma in it.`,
      'Use a path without commas.',
    );
  }
  return `${kind}:${path}`;
}
