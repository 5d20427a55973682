import { spawn } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, existsSync } from 'node:fs';
import { copyFile, link, open, readFile, rename, stat, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../app-error.ts';
import { POSTGRES_ENV } from './local-postgres-cluster.ts';
import type { PostgresBinaries } from './local-postgres-binaries.ts';
import type { PostgresOwner } from './local-postgres-owner.ts';

/** What belongs to one local server. */
export interface ServerPlace {
  /** Absolute, without symbolic links. */
  dataDir: string;
  socketDir: string;
  logFile: string;
  owner: PostgresOwner;
}

const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
const STOP_FAST_MS = 30_000;

/** Process id of the server that runs on this data directory; `null` when none does, whatever its pid file says. */
export async function findPostmaster(place: ServerPlace): Promise<number | null> {
  const pid = await readPid(join(place.dataDir, 'postmaster.pid'));
  return pid !== null && isPostmasterOf(pid, place.dataDir) ? pid : null;
}

/**
 * Starts the server in a session of its own, so that a Ctrl-C or the end of this process does not take it along
 * before its clients. Does not wait until it answers; `exited` says whether it has given up.
 */
export async function spawnPostmaster(
  place: ServerPlace,
  binaries: PostgresBinaries,
): Promise<{ exited: () => boolean; said: () => Promise<string> }> {
  await boundLog(place);
  await voidStaleLocks(place);
  const log = await open(place.logFile, 'a', 0o600);
  const from = (await log.stat()).size;
  const { owner } = place;
  const args = [
    '-D',
    place.dataDir,
    '-c',
    'listen_addresses=',
    '-c',
    `unix_socket_directories=${quoteList(place.socketDir)}`,
  ];
  args.push(
    '-c',
    'port=5432',
    '-c',
    'unix_socket_permissions=0700',
    '-c',
    'logging_collector=off',
    '-c',
    'external_pid_file=',
  );
  try {
    const child = spawn(join(binaries.bin, 'postgres'), args, {
      cwd: place.dataDir,
      env: POSTGRES_ENV,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      ...(owner.foreign && { uid: owner.uid, gid: owner.gid }),
    });
    let failure: string | null = null;
    child.once('error', (error) => (failure = describeError(error)));
    child.unref();
    return {
      exited: () => failure !== null || child.exitCode !== null || child.signalCode !== null,
      said: async () => failure ?? (await readFile(place.logFile, 'utf8')).slice(from).trim().slice(-2_000),
    };
  } finally {
    await log.close();
  }
}

/** Fast shutdown: open transactions are rolled back, everything is on disk when this resolves. */
export async function haltPostmaster(place: ServerPlace): Promise<void> {
  const pid = await findPostmaster(place);
  if (pid === null) return;
  signal(pid, 'SIGINT');
  if (await isGoneWithin(pid, place, STOP_FAST_MS)) return;
  // It could not finish in time. An immediate stop loses nothing: the next start replays the log.
  signal(pid, 'SIGQUIT');
  if (await isGoneWithin(pid, place, 5_000)) return;
  signal(pid, 'SIGKILL');
}

/** Keeps the server's log under a few megabytes; the server appends, so it may be cut while it runs. */
export async function boundLog(place: ServerPlace): Promise<void> {
  const size = await stat(place.logFile).then(
    (found) => found.size,
    () => 0,
  );
  if (size < LOG_LIMIT_BYTES) return;
  await copyFile(place.logFile, `${place.logFile}.1`);
  await truncate(place.logFile);
}

/** No process has a number this large, on any kernel. */
const NO_PROCESS = 2_147_483_646;

/**
 * Lock files whose process is another program by now (a number used again, as after a reboot): the server would
 * take that program for a running server and refuse. Only the number is made void. The file itself stays: by
 * the shared memory it names the server sees whether a session of its dead predecessor is still writing.
 */
async function voidStaleLocks(place: ServerPlace): Promise<void> {
  const files = [join(place.dataDir, 'postmaster.pid'), join(place.socketDir, '.s.PGSQL.5432.lock')];
  for (const file of files) {
    const pid = await readPid(file);
    if (pid === null || !isAlive(pid) || isPostmasterOf(pid, place.dataDir)) continue;
    await voidLock(file, place);
  }
}

async function voidLock(file: string, place: ServerPlace): Promise<void> {
  // Taken away under another name first: if a second starter has put a live one there meanwhile, that goes back.
  const aside = `${file}.stale-${process.pid}`;
  if (!(await succeeds(rename(file, aside)))) return;
  const pid = await readPid(aside);
  if (pid !== null && !isPostmasterOf(pid, place.dataDir)) {
    const rest = (await readFile(aside, 'utf8')).replace(/^\d+/, String(NO_PROCESS));
    await writeFile(aside, rest);
  }
  // Linking never replaces a file that has appeared in between.
  await succeeds(link(aside, file));
  await unlink(aside);
}

function succeeds(action: Promise<unknown>): Promise<boolean> {
  return action.then(
    () => true,
    () => false,
  );
}

async function isGoneWithin(pid: number, place: ServerPlace, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (performance.now() < deadline) {
    if (!isPostmasterOf(pid, place.dataDir)) return true;
    await sleep(10);
  }
  return false;
}

/** True when that process runs a server on this data directory: a server's working folder is its data directory. */
function isPostmasterOf(pid: number, dataDir: string): boolean {
  if (!isAlive(pid)) return false;
  if (!existsSync('/proc/self/cwd')) return true;
  try {
    // A dead process that nobody has collected has no working folder any more and lands in the catch.
    if (realpathSync(readlinkSync(`/proc/${pid}/cwd`)) !== dataDir) return false;
    return /^(postgres|postmaster)$/.test(readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function readPid(file: string): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

/** The setting is a list: a comma or a space in the path must not split it. */
function quoteList(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}
