import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { showProgress } from './progress.mjs';
import { runQuietly } from './run-program.mjs';
import { ROOT, Stop } from './surroundings.mjs';

const WEB = join(ROOT, 'apps/web');
const DIST = join(WEB, 'dist');
const STAMP = join(DIST, '.vitto-build');
/** How long files of earlier builds stay: a tab that is open still loads its pages from them. */
const KEEP_MS = 7 * 24 * 60 * 60_000;
const NOT_SOURCES = new Set(['node_modules', 'dist', '.cache', 'coverage']);
const BUILD_LIMIT_MS = 5 * 60_000;

/**
 * Builds the web app when its sources, the contracts or the packages are others than at the last build. The folder
 * that is served is never emptied: it may be in use.
 */
export async function ensureWebApp({ force = false } = {}) {
  if (!existsSync(join(WEB, 'index.html'))) return;
  const hash = hashSources();
  if (!force && readStamp() === hash) return;
  mkdirSync(join(WEB, '.cache'), { recursive: true });
  const fresh = mkdtempSync(join(WEB, '.cache/build-'));
  try {
    await build(fresh);
    writeFileSync(join(fresh, '.vitto-build'), hash);
    putInPlace(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function build(folder) {
  const done = showProgress('building the web app');
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'build', '--outDir', folder, '--emptyOutDir'];
  const result = await runQuietly(process.execPath, args, { cwd: WEB, timeoutMs: BUILD_LIMIT_MS });
  done(result.ok ? 'done' : 'failed');
  if (result.interrupted) throw new Stop('Interrupted.', undefined, 130);
  if (!result.ok) {
    process.stderr.write(`${result.output.trim()}\n`);
    throw new Stop(
      'The web app could not be built (the words of vite are above).',
      'See that the disk has room and the clone is unchanged (`git status`).',
    );
  }
}

/**
 * Puts what pages name first, then the pages, then the mark of the build, each at one stroke: whoever reads meanwhile
 * finds what it asks for.
 */
function putInPlace(fresh) {
  const assets = join(DIST, 'assets');
  mkdirSync(assets, { recursive: true });
  const isFresh = new Set(readdirSync(join(fresh, 'assets')));
  for (const name of isFresh) renameSync(join(fresh, 'assets', name), join(assets, name));
  const others = readdirSync(fresh).filter((name) => name !== 'assets');
  for (const name of others.sort(byUse)) renameSync(join(fresh, name), join(DIST, name));
  for (const name of readdirSync(assets)) {
    const file = join(assets, name);
    if (!isFresh.has(name) && statSync(file).mtimeMs < Date.now() - KEEP_MS) rmSync(file, { force: true });
  }
}

const LAST = ['index.html', '.vitto-build'];
function byUse(a, b) {
  return LAST.indexOf(a) - LAST.indexOf(b);
}

/** `npm run build:web` */
export async function run(args) {
  await ensureWebApp({ force: args.includes('--force') });
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
