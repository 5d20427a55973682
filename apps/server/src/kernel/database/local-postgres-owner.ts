import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { getuid } from 'node:process';
import { promisify } from 'node:util';
import { AppError } from '../app-error.ts';

/** The operating system's user that PostgreSQL runs as. */
export interface PostgresOwner {
  name: string;
  uid: number;
  gid: number;
  /** True when this process is root and has to change to that user. */
  foreign: boolean;
}

const ROOT_DATA = '/var/lib/vitto';
const OWN_SYSTEM_USER = 'vitto-pg';

/**
 * The folder for data that other system users (PostgreSQL's) must be able to reach. For ordinary users that is
 * `home` (VITTO_HOME). PostgreSQL refuses to run as root, so for root it has to lie where its user can go:
 * `home` when no folder on the way is closed to others, else `/var/lib/vitto/<short hash of home>`.
 * Made when it is missing; the same answer at every start.
 */
export function chooseDataRoot(options: { home: string; uid: number; rootData?: string }): string {
  const home = resolve(options.home);
  if (options.uid !== 0) {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return home;
  }
  const hash = createHash('sha256').update(home).digest('hex').slice(0, 12);
  const elsewhere = join(options.rootData ?? ROOT_DATA, hash);
  if (existsSync(elsewhere)) return elsewhere;
  makePassable(home);
  if (mayTraverse(home)) return home;
  makePassable(elsewhere);
  writeFileSync(join(elsewhere, 'belongs-to.txt'), `${home}\n`, { mode: 0o600 });
  return elsewhere;
}

/**
 * Makes missing folders passable for others but not listable, whatever the umask is: what is secret in them has
 * modes of its own. Folders that exist keep their modes.
 */
export function makePassable(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made)) chmodSync(made, 0o711);
}

/** True when any user of the machine may pass through `folder` and all folders above it. */
export function mayTraverse(folder: string): boolean {
  for (let current = resolve(folder); ; current = dirname(current)) {
    if ((statSync(current).mode & 0o001) === 0) return false;
    if (current === dirname(current)) return true;
  }
}

/**
 * Who runs PostgreSQL: the owner of an existing data directory; else this process's own user; for root the
 * `postgres` user, or a system user `vitto-pg`, which is made when both are missing.
 */
export async function chooseOwner(dataDir: string, runAs: string | undefined): Promise<PostgresOwner> {
  const me = getuid?.() ?? -1;
  if (me !== 0) return { ...ownUser(me), foreign: false };
  const existing = await stat(join(dataDir, 'PG_VERSION')).catch(() => null);
  if (existing !== null && existing.uid !== 0) {
    const name = findUser((user) => user.uid === existing.uid)?.name ?? String(existing.uid);
    return { name, uid: existing.uid, gid: existing.gid, foreign: true };
  }
  const wanted = runAs === undefined ? ['postgres', OWN_SYSTEM_USER] : [runAs];
  for (const name of wanted) {
    const user = findUser((one) => one.name === name);
    if (user !== undefined && user.uid !== 0) return { ...user, foreign: true };
  }
  if (runAs === undefined) return makeSystemUser();
  throw new AppError('database.no-user', `There is no user ${runAs} to run PostgreSQL as.`, {
    status: 503,
    hint: 'Name an existing user other than root, or leave the choice to Vitto.',
  });
}

function ownUser(uid: number): { name: string; uid: number; gid: number } {
  try {
    const { username, gid } = userInfo();
    return { name: username, uid, gid };
  } catch {
    // PostgreSQL's own programs look the name up and refuse without one.
    throw new AppError('database.no-user', `The user with the number ${uid} has no name on this machine.`, {
      status: 503,
      hint: 'Add the user to /etc/passwd, run Vitto as another user, or set DATABASE_URL.',
    });
  }
}

async function makeSystemUser(): Promise<PostgresOwner> {
  const args = [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    OWN_SYSTEM_USER,
  ];
  const failure = await promisify(execFile)('/usr/sbin/useradd', args, { timeout: 20_000 }).then(
    () => null,
    (error: unknown) => error,
  );
  // Another starter may have made it in the meantime, so what counts is that it is there.
  const user = findUser((one) => one.name === OWN_SYSTEM_USER);
  if (user !== undefined) return { ...user, foreign: true };
  throw new AppError('database.no-user', 'PostgreSQL may not run as root and no user could be made for it.', {
    status: 503,
    hint: 'Run `useradd --system vitto-pg`, or start Vitto as an ordinary user, or set DATABASE_URL.',
    cause: failure,
  });
}

function findUser(
  matches: (user: { name: string; uid: number; gid: number }) => boolean,
): { name: string; uid: number; gid: number } | undefined {
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name === undefined || uid === undefined || gid === undefined) continue;
    const user = { name, uid: Number(uid), gid: Number(gid) };
    if (matches(user)) return user;
  }
  return undefined;
}

/** Makes a folder that only `owner` (and root) may enter; refuses one that somebody else has put there. */
export async function makePrivateFolder(folder: string, owner: PostgresOwner): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  const mine = found.isDirectory() && (found.uid === owner.uid || found.uid === getuid?.());
  if (!mine) {
    throw new AppError('database.folder-taken', `${folder} belongs to another user.`, {
      status: 503,
      hint: 'Remove it, or give Vitto another VITTO_HOME.',
    });
  }
  if (owner.foreign && found.uid !== owner.uid) await chown(folder, owner.uid, owner.gid);
  if ((found.mode & 0o777) !== 0o700) await chmod(folder, 0o700);
}
