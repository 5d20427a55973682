import { hostname } from 'node:os';
import type { Database } from './database/database.ts';
import { newId } from './ids.ts';

/** Without a sign of life for this long a process counts as dead, in seconds. */
const ALIVE_SECONDS = 15;
const BEAT_EVERY_MS = 5_000;

export interface ProcessRecord {
  id: string;
  host: string;
  pid: number;
  roles: string[];
  version: string;
  startedAt: Date;
  heartbeatAt: Date;
  isAlive: boolean;
}

/** Makes this process known to the others, with a heartbeat until `leave`. */
export async function joinProcesses(
  database: Database,
  about: { roles: readonly string[]; version: string },
): Promise<{ id: string; leave: () => Promise<void> }> {
  const id = `${hostname()}:${process.pid}:${newId().slice(-12)}`;
  const beat = () =>
    database.pool.query(
      `insert into vitto_processes (id, host, pid, roles, version) values ($1, $2, $3, $4, $5)
       on conflict (id) do update set heartbeat_at = clock_timestamp()`,
      [id, hostname(), process.pid, JSON.stringify(about.roles), about.version],
    );
  await beat();
  // While the database is away the beat is missed; the next one makes the row again.
  const timer = setInterval(() => void beat().catch(() => undefined), BEAT_EVERY_MS);
  return {
    id,
    leave: async () => {
      clearInterval(timer);
      await database.pool.query('delete from vitto_processes where id = $1', [id]).catch(() => undefined);
    },
  };
}

/** All processes that have not left, and whether they show a sign of life. */
export async function readProcesses(database: Database): Promise<ProcessRecord[]> {
  const result = await database.pool.query(
    `select id, host, pid, roles, version, started_at as "startedAt", heartbeat_at as "heartbeatAt",
       heartbeat_at > clock_timestamp() - make_interval(secs => $1) as "isAlive"
     from vitto_processes order by started_at`,
    [ALIVE_SECONDS],
  );
  return result.rows as ProcessRecord[];
}

/**
 * Removes the processes of this machine that are known to be dead: their pid is gone, or is this
 * process's own. Call it before this process joins. Gives their ids: what they held can be had at once. Old rows of other machines go too.
 */
export async function removeDeadProcesses(database: Database): Promise<string[]> {
  const here = (await readProcesses(database)).filter(
    (one) => one.host === hostname() && one.pid !== process.pid,
  );
  const dead = here.filter((one) => !isRunning(one.pid)).map((one) => one.id);
  // A pid of ours from an earlier start (containers give the same one each time).
  const own = await database.pool.query('select id from vitto_processes where host = $1 and pid = $2', [
    hostname(),
    process.pid,
  ]);
  const reused = (own.rows as { id: string }[]).map((row) => row.id);
  await database.pool.query(
    "delete from vitto_processes where id = any($1::text[]) or heartbeat_at < clock_timestamp() - interval '1 day'",
    [[...dead, ...reused]],
  );
  return [...dead, ...reused];
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
