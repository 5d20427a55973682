import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { showProgress } from './progress.mjs';
import { runQuietly } from './run-program.mjs';
import { ROOT, Stop } from './surroundings.mjs';

const WEB = join(ROOT, 'apps/web');
const STAMP = join(WEB, 'dist/.vitto-build');
const NOT_SOURCES = new Set(['node_modules', 'dist', '.cache', 'coverage']);
const BUILD_LIMIT_MS = 5 * 60_000;

/** Builds the web app when its sources, the contracts or the packages are others than at the last build. */
export async function ensureWebApp({ force = false } = {}) {
  if (!existsSync(join(WEB, 'index.html'))) return;
  const hash = hashSources();
  if (!force && readStamp() === hash) return;
  const done = showProgress('building the web app');
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const result = await runQuietly(process.execPath, [vite, 'build'], { cwd: WEB, timeoutMs: BUILD_LIMIT_MS });
  done(result.ok ? 'done' : 'failed');
  if (result.interrupted) throw new Stop('Interrupted.', undefined, 130);
  if (!result.ok) {
    process.stderr.write(`${result.output.trim()}\n`);
    throw new Stop(
      'The web app could not be built (the words of vite are above).',
      'See that the disk has room and the clone is unchanged (`git status`).',
    );
  }
  writeFileSync(STAMP, hash);
}

/** `npm run build:web` */
export async function run() {
  await ensureWebApp({ force: true });
  return 0;
}

function hashSources() {
  const hash = createHash('sha256');
  const files = [
    ...listFiles(WEB),
    ...listFiles(join(ROOT, 'packages/contracts')),
    join(ROOT, 'package-lock.json'),
  ];
  for (const file of files)
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function listFiles(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !NOT_SOURCES.has(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory()
        ? listFiles(join(folder, entry.name))
        : entry.isFile()
          ? [join(folder, entry.name)]
          : [],
    );
}

function readStamp() {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return undefined;
  }
}
