import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEMO_PACKAGE } from './demo-package.ts';
import { fetchPackage } from './fetch-package.ts';
import { placeProject } from './place-project.ts';
import { plantDefect } from './plant-defect.ts';

/** What the scripted model plays, with pauses for people who watch. */
export const DEMO_SCRIPT = fileURLToPath(new URL('demo.yaml', import.meta.url));

/** The project's tests need Node.js, which no smaller image has. */
export const DEMO_VM = { template: 'developer' };

/** A project with a defect, ready to be given to a task. */
export interface PreparedDemo {
  /** The copy of the project that the task may read. */
  folder: string;
  title: string;
  /** What the person asks; the script finds the folder in it. */
  prompt: string;
  /** Where the defect is, for people who watch: `index.js:60`. */
  place: string;
  remove: () => Promise<void>;
}

/** Where an installation keeps what the demo fetched. */
export function demoCacheOf(home: string): string {
  return join(home, 'cache', 'demo');
}

/**
 * Fetches the demo's project, unless it is cached, and plants the defect in a copy. Who calls removes the copy.
 * @throws AppError `demo.…` with what to do.
 */
export async function prepareDemo(cache: string): Promise<PreparedDemo> {
  const { name, version, license, defect } = DEMO_PACKAGE;
  const tarball = await fetchPackage(DEMO_PACKAGE, cache);
  const { folder, remove } = await placeProject(tarball, name);
  try {
    // The licence asks to stay with every copy.
    await readFile(join(folder, 'LICENSE'));
    const line = await plantDefect(folder, defect);
    return {
      folder,
      title: `Demo: mend ${name}`,
      prompt:
        `Some tests of ${name} ${version} (${license}) fail since the last change. The project lies in \`${folder}\`. ` +
        'Find the defect, mend it in a copy, run the tests again, and give me a report with the diff.',
      place: `${defect.file}:${line}`,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
