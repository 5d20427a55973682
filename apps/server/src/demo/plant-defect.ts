import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../kernel/app-error.ts';

/** One exact replacement that makes some of a package's own tests fail. */
export interface Defect {
  /** Relative to the package. */
  file: string;
  /** The text that stands there, exactly once. */
  right: string;
  wrong: string;
}

/**
 * Plants a defect in a copy and gives the line it stands on, from 1.
 * @throws AppError `demo.defect-not-placed` when the file does not hold the text exactly once.
 */
export async function plantDefect(folder: string, defect: Defect): Promise<number> {
  const path = join(folder, defect.file);
  const text = await readFile(path, 'utf8').catch(() => null);
  const pieces = text?.split(defect.right) ?? [];
  const [before, after] = pieces;
  if (pieces.length !== 2 || before === undefined || after === undefined) {
    const found =
      text === null ? 'the file is not there' : `the text stands there ${pieces.length - 1} times`;
    throw new AppError(
      'demo.defect-not-placed',
      `The demo cannot plant its defect in ${defect.file}: ${found}, not once.`,
      { status: 500, hint: 'The demo does not fit the package it names; please report it.' },
    );
  }
  await writeFile(path, `${before}${defect.wrong}${after}`);
  return before.split('\n').length;
}
