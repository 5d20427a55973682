import type { Sql } from '../../kernel/database/database.ts';

/** Open tasks of everybody: what waits for a worker, what runs, what waits for somebody else. */
export interface QueueFigures {
  queued: number;
  /** How long the first of the queued has waited, by the database's clock. */
  oldestQueuedMs: number | null;
  running: number;
  waiting: number;
  /** Running tasks by the process that holds their lease. */
  runningBy: Record<string, number>;
}

/** One look over the index of open tasks; the ended ones, however many, are not touched. */
export async function readQueueFigures(sql: Sql): Promise<QueueFigures> {
  const result = await sql.query(
    `select state, lease_holder as holder, count(*)::int as count,
       greatest(0, extract(epoch from clock_timestamp() - min(created_at)) * 1000)::float8 as "oldestMs"
     from vitto_tasks
     where state in ('queued', 'running', 'waiting_approval', 'waiting_children', 'waiting_input')
     group by state, lease_holder`,
  );
  const rows = result.rows as { state: string; holder: string | null; count: number; oldestMs: number }[];
  const queued = rows.find((row) => row.state === 'queued');
  const running = rows.filter((row) => row.state === 'running');
  return {
    queued: queued?.count ?? 0,
    oldestQueuedMs: queued === undefined ? null : Math.round(queued.oldestMs),
    running: sum(running),
    waiting: sum(rows.filter((row) => row.state.startsWith('waiting'))),
    runningBy: Object.fromEntries(running.map((row) => [row.holder ?? '', row.count])),
  };
}

function sum(rows: { count: number }[]): number {
  return rows.reduce((total, row) => total + row.count, 0);
}
