import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, describeError } from '../app-error.ts';
import {
  choosePostgresBinaries,
  preparePackagedBinaries,
  type PostgresBinaries,
} from './local-postgres-binaries.ts';
import {
  APP_ROLE,
  createCluster,
  readClusterMajor,
  socketFolder,
  writeAccessRules,
} from './local-postgres-cluster.ts';
import { chooseOwner, makePassable, makePrivateFolder } from './local-postgres-owner.ts';
import {
  boundLog,
  findPostmaster,
  haltPostmaster,
  spawnPostmaster,
  type ServerPlace,
} from './local-postgres-postmaster.ts';
import { openSupervisorSession, type SupervisorSession } from './local-postgres-session.ts';

export { chooseDataRoot } from './local-postgres-owner.ts';

/** The part of a logger that the supervisor uses. */
export interface LocalPostgresLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface LocalPostgresOptions {
  /** Where the data lies; made when missing. Beside it come `<dataDir>-socket` and `<dataDir>.log`. */
  dataDir: string;
  log: LocalPostgresLog;
  /** When this process is root: the user to run the server as. Default: its own choice. */
  runAs?: string;
  /** Which programs make a new data directory where both are there. Default: the system's. */
  prefer?: 'system' | 'packaged';
}

export interface LocalPostgres {
  /** For this process and those it starts; holds no secret: the system user is what lets them in. */
  url: string;
  /** True when the server was running already (left by a killed process, or shared with a living one). */
  adopted: boolean;
  /** Stops the server, unless another process still uses it. Close your own connections first. Idempotent. */
  stop(): Promise<void>;
}

/** Crash recovery of a large database takes its time. */
const START_LIMIT_MS = 120_000;
/** About 20 s where sessions of a dead server finish a long statement. */
const REFUSAL_LIMIT = 100;
const POLL_MS = 10;
const LOG_CHECK_MS = 600_000;

/**
 * A PostgreSQL of our own, for installations without DATABASE_URL: made on first use, started in about a tenth
 * of a second after that, reachable only through a socket in a private folder.
 *
 * It runs apart from this process: after a kill -9 it lives on and the next start adopts it. Several processes
 * may call this for one data directory; each holds a shared lock in the server as long as it lives, and the one
 * that stops last stops the server. When the server dies while it is needed it is started again.
 *
 * Throws `database.no-binaries`, `database.wrong-major`, `database.no-user`, `database.initdb-failed`,
 * `database.folder-taken` or `database.start-failed`; all say what to do.
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const started = performance.now();
  const server = await prepareServer(options);
  const first = await connectOrStart(server, options.log);
  const took = Math.round(performance.now() - started);
  options.log.info(
    { took, adopted: first.adopted, dataDir: server.place.dataDir },
    'local PostgreSQL is ready',
  );
  const stop = supervise(server, first.session, options.log);
  return { url: databaseUrl(server.place), adopted: first.adopted, stop };
}

interface PreparedServer {
  place: ServerPlace;
  binaries: PostgresBinaries;
}

async function prepareServer(options: LocalPostgresOptions): Promise<PreparedServer> {
  const wanted = resolve(options.dataDir);
  makePassable(dirname(wanted));
  const dataDir = join(await realpath(dirname(wanted)), basename(wanted));
  const owner = await chooseOwner(dataDir, options.runAs);
  const major = await readClusterMajor(dataDir);
  const found = await choosePostgresBinaries({ major, ...(options.prefer && { prefer: options.prefer }) });
  const binaries =
    found.source === 'system'
      ? found
      : await preparePackagedBinaries(found, { cacheDir: dirname(dataDir), foreignUser: owner.foreign });
  if (major === null) await createCluster(dataDir, binaries, owner);
  const place = { dataDir, socketDir: socketFolder(dataDir, owner), logFile: `${dataDir}.log`, owner };
  await makePrivateFolder(place.socketDir, owner);
  return { place, binaries };
}

/**
 * Until a session with the server is open: starts the server when none runs, waits while one starts or stops.
 * Of two starters the postmaster's own lock lets one through; the other finds that one's server.
 */
async function connectOrStart(
  server: PreparedServer,
  log: LocalPostgresLog,
): Promise<{ session: SupervisorSession; adopted: boolean }> {
  const { place } = server;
  const deadline = performance.now() + START_LIMIT_MS;
  let own: Awaited<ReturnType<typeof spawnPostmaster>> | null = null;
  let refusals = 0;
  let reported = performance.now();
  while (performance.now() < deadline) {
    const running = await findPostmaster(place);
    if (running !== null) {
      const session = await openSupervisorSession(place);
      if (session !== null) return { session, adopted: own === null || own.exited() };
    } else if (own === null) {
      await writeAccessRules(place.dataDir, place.owner);
      own = await spawnPostmaster(place, server.binaries);
    } else if (own.exited()) {
      const said = await own.said();
      refusals += 1;
      if (refusals > REFUSAL_LIMIT || !(await isPassingRefusal(said))) throw startFailed(said, place);
      own = null;
    }
    if (performance.now() - reported > 5_000) {
      reported = performance.now();
      log.info(
        { dataDir: place.dataDir },
        'waiting for the local PostgreSQL (it may be recovering from a crash)',
      );
    }
    await sleep(POLL_MS);
  }
  throw startFailed('It did not answer in time.', place);
}

/** A start that lost against another starter, or that waits for sessions of a dead server, is worth another try. */
async function isPassingRefusal(said: string): Promise<boolean> {
  if (/pre-existing shared memory block/i.test(said)) {
    await sleep(200);
    return true;
  }
  return /lock file .* already exists|data directory lock file is invalid/i.test(said);
}

function startFailed(said: string, place: ServerPlace): AppError {
  return new AppError('database.start-failed', `The local PostgreSQL did not start: ${said}`, {
    status: 503,
    hint: `Its log is ${place.logFile}. Or set DATABASE_URL to use another server.`,
  });
}

/** Keeps the server running until the returned function is called. */
function supervise(
  server: PreparedServer,
  first: SupervisorSession,
  log: LocalPostgresLog,
): () => Promise<void> {
  let session = first;
  let stopping: Promise<void> | null = null;
  let revival: Promise<void> | null = null;
  const timer = setInterval(() => void boundLog(server.place).catch(() => undefined), LOG_CHECK_MS);
  timer.unref();

  const revive = async (): Promise<void> => {
    for (let pause = 100; stopping === null; pause = Math.min(pause * 2, 10_000)) {
      try {
        // The folder may be gone for good (a removed installation): then there is nothing to keep alive.
        if (!existsSync(server.place.dataDir)) return;
        session = (await connectOrStart(server, log)).session;
        watch();
        log.info({ dataDir: server.place.dataDir }, 'local PostgreSQL is back');
        return;
      } catch (error) {
        log.warn({ error: describeError(error), pause }, 'local PostgreSQL could not be started again');
        await sleep(pause);
      }
    }
  };
  const watch = () =>
    session.onLost(() => {
      if (stopping !== null) return;
      log.warn({ dataDir: server.place.dataDir }, 'local PostgreSQL went away; starting it again');
      revival = revive();
    });
  const halt = async (): Promise<void> => {
    clearInterval(timer);
    await revival;
    const users = await session.mayStop();
    if (users === 0) await haltPostmaster(server.place);
    else log.info({ users }, 'local PostgreSQL is left running: other processes use it');
    await session.close();
  };
  watch();
  return () => (stopping ??= halt());
}

function databaseUrl(place: ServerPlace): string {
  return `postgresql://${APP_ROLE}@localhost/${APP_ROLE}?host=${encodeURIComponent(place.socketDir)}`;
}
