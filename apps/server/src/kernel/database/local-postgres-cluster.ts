import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { appendFile, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError, describeError } from '../app-error.ts';
import type { PostgresBinaries } from './local-postgres-binaries.ts';
import type { PostgresOwner } from './local-postgres-owner.ts';

/** The role and the database that the product uses: no superuser, so a statement can never become a command of the machine. */
export const APP_ROLE = 'vitto';
/** The superuser of the supervisor. */
export const ADMIN_ROLE = 'vitto_admin';

/**
 * `wal_level` stays at its default (replica): online physical backups need it. `fsync` stays on: what was
 * acknowledged survives a power cut. `jit` costs more than it brings for short statements.
 */
const SETTINGS = `
# Written once by Vitto; yours to change.
max_connections = 200
shared_buffers = 128MB
fsync = on
jit = off
log_checkpoints = off
log_line_prefix = '%m [%p] '
timezone = 'UTC'
log_timezone = 'UTC'
`;

/** Environment of PostgreSQL's programs: nothing of ours, messages in English. */
export const POSTGRES_ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Major version of the server that made the data directory; `null` when there is none yet. */
export async function readClusterMajor(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : Number.parseInt(text, 10);
}

/**
 * Makes the data directory. It is built beside its place and renamed into it, so a start that was cut off
 * leaves no half-made one, and of two starters the slower throws its own away.
 */
export async function createCluster(
  dataDir: string,
  binaries: PostgresBinaries,
  owner: PostgresOwner,
): Promise<void> {
  const draft = `${dataDir}.new-${randomBytes(4).toString('hex')}`;
  await mkdir(draft, { mode: 0o700 });
  try {
    if (owner.foreign) await chown(draft, owner.uid, owner.gid);
    await runInitdb(draft, binaries, owner);
    await appendFile(join(draft, 'postgresql.conf'), SETTINGS);
    await rename(draft, dataDir).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function runInitdb(draft: string, binaries: PostgresBinaries, owner: PostgresOwner): Promise<void> {
  // One order of text everywhere, by code point, independent of the machine's language.
  const locale =
    binaries.major >= 17
      ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
      : ['--locale=C.UTF-8'];
  const args = [
    '-D',
    draft,
    '-U',
    ADMIN_ROLE,
    '--encoding=UTF8',
    '--auth=peer',
    '--data-checksums',
    '--no-instructions',
    ...locale,
  ];
  const options = {
    cwd: draft,
    env: POSTGRES_ENV,
    timeout: 120_000,
    ...(owner.foreign && { uid: owner.uid, gid: owner.gid }),
  };
  await promisify(execFile)(join(binaries.bin, 'initdb'), args, options).catch((error: unknown) => {
    const said = (error as { stderr?: string }).stderr?.trim() || describeError(error);
    throw new AppError('database.initdb-failed', `PostgreSQL could not make its data directory: ${said}`, {
      status: 503,
      hint: 'See that the disk has room and that the folder may be written, or set DATABASE_URL.',
      cause: error,
    });
  });
}

/**
 * Who may connect: over the socket only, and only the system users named here, proven by the kernel (`peer`).
 * There is no password to keep, to leak or to log.
 */
export async function writeAccessRules(dataDir: string, owner: PostgresOwner): Promise<void> {
  const users = [...new Set([userInfo().username, owner.name])];
  const lines = users.flatMap((user) =>
    [APP_ROLE, ADMIN_ROLE].map((role) => `vitto ${quote(user)} ${role}\n`),
  );
  await writeOwned(join(dataDir, 'pg_hba.conf'), 'local all all peer map=vitto\n', owner);
  await writeOwned(join(dataDir, 'pg_ident.conf'), lines.join(''), owner);
}

/**
 * Folder of the socket: beside the data directory, or, where that path is longer than a socket's address
 * may be (107 bytes), one of a short name under /tmp.
 */
export function socketFolder(dataDir: string, owner: PostgresOwner): string {
  const beside = `${dataDir}-socket`;
  if (Buffer.byteLength(beside) + '/.s.PGSQL.5432'.length <= 107) return beside;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return `/tmp/vitto-pg-${owner.uid}-${hash}`;
}

async function writeOwned(file: string, text: string, owner: PostgresOwner): Promise<void> {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, text, { mode: 0o600 });
  if (owner.foreign) await chown(draft, owner.uid, owner.gid);
  await rename(draft, file);
}

function quote(user: string): string {
  return `"${user.replaceAll('"', '""')}"`;
}
