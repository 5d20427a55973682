import type { Database } from '../apps/server/src/kernel/database/database.ts';
import { FINAL_TEXT } from './instant-model.ts';

/** A task and everything below it, as the database has it after its end. */
export interface Finished {
  ms: number;
  subVittos: number;
  /** What is not as it must be: lost, run twice, out of order. */
  faults: string[];
  /** The most that ran at one moment, and how many were parked then; by the order of the journal. */
  mostRunning: number;
  mostSubVittosRunning: number;
  mostParked: number;
  /** How many ran at the moment when the most were parked, at most. */
  runningBesideParked: number;
  /** Tasks that each worker started. */
  workers: Record<string, number>;
}

interface TaskRow {
  id: string;
  state: string;
  result: string | null;
  ms: number;
  started: number;
  resumed: number;
  parked: number;
  ended: number;
  reads: number;
  told: number;
}

/** The facts about each task below a root come from its own journal, `told` from its parent's. */
const TASKS = `
  select t.id, t.state, t.result, extract(epoch from t.ended_at - t.created_at)::float8 * 1000 as ms,
    count(*) filter (where e.type = 'task.started')::int as started,
    count(*) filter (where e.type = 'task.resumed')::int as resumed,
    count(*) filter (where e.type = 'task.parked')::int as parked,
    count(*) filter (where e.type in ('task.completed', 'task.failed', 'task.cancelled'))::int as ended,
    count(*) filter (where e.type = 'tool.called' and e.payload->>'tool' = 'lookup')::int as reads,
    (select count(*)::int from vitto_task_events p where p.task_id = t.parent_id
       and p.type in ('subvitto.completed', 'subvitto.failed') and p.payload->>'id' = t.id::text) as told
  from vitto_tasks t join vitto_task_events e on e.task_id = t.id
  where t.root_id = $1 group by t.id order by t.depth, t.created_at, t.id`;

/** Each list of results that a model was given, beside the sub-Vittos in the order they were deployed. */
const RESULTS = `
  select e.task_id as id, e.payload->'data'->'agents' as given,
    (select json_agg(c.id order by c.round, c.index) from vitto_tasks c where c.parent_id = e.task_id) as deployed
  from vitto_task_events e join vitto_tasks t on t.id = e.task_id
  where t.root_id = $1 and e.type = 'tool.called' and e.payload->>'tool' = 'deploy_agents'`;

const MOVES = `
  select e.task_id as id, t.kind = 'subvitto' as "isSubVitto", e.type, e.payload->>'worker' as worker
  from vitto_task_events e join vitto_tasks t on t.id = e.task_id
  where t.root_id = $1 and e.type in ('task.started', 'task.resumed', 'task.parked', 'task.queued',
    'task.completed', 'task.failed', 'task.cancelled')
  order by e.position`;

/**
 * Reads what became of a root task and holds it against what was ordered.
 * @param readsEach reads of each sub-Vitto that deploys nobody.
 */
export async function readFinished(database: Database, rootId: string, readsEach: number): Promise<Finished> {
  const { pool } = database;
  const [root, ...below] = (await pool.query<TaskRow>(TASKS, [rootId])).rows;
  if (root === undefined) throw new Error(`there is no task ${rootId}`);
  const lists = await pool.query<{ id: string; given: { id: string }[] | null; deployed: string[] | null }>(
    RESULTS,
    [rootId],
  );
  const deploying = new Set(lists.rows.map((row) => row.id));
  const faults = [
    ...(root.state === 'completed' && root.result === FINAL_TEXT ? [] : [`the task ${root.state}`]),
    ...below.flatMap((row) => findFaults(row, deploying.has(row.id) ? 0 : readsEach)),
    ...lists.rows
      .filter((row) => JSON.stringify(row.given?.map(({ id }) => id)) !== JSON.stringify(row.deployed))
      .map((row) => `${row.id} was given its results in another order`),
  ];
  return { ms: root.ms, subVittos: below.length, faults, ...(await foldMoves(database, rootId)) };
}

function findFaults(row: TaskRow, reads: number): string[] {
  const should: [string, unknown, unknown][] = [
    ['state', row.state, 'completed'],
    ['started', row.started, 1],
    ['resumed', row.resumed, row.parked],
    ['ended', row.ended, 1],
    ['told its parent', row.told, 1],
    ['reads', row.reads, reads],
  ];
  return should
    .filter(([, is, must]) => is !== must)
    .map(([what, is, must]) => `${row.id}: ${what} ${String(is)}, not ${String(must)}`);
}

/** Who ran and who was parked after each event. Of one user the positions are the order of the commits. */
async function foldMoves(database: Database, rootId: string) {
  const { rows } = await database.pool.query<{
    id: string;
    isSubVitto: boolean;
    type: string;
    worker: string | null;
  }>(MOVES, [rootId]);
  const running = new Map<string, boolean>();
  const parked = new Set<string>();
  const fold = { mostRunning: 0, mostSubVittosRunning: 0, mostParked: 0, runningBesideParked: 0 };
  const workers: Record<string, number> = {};
  for (const { id, isSubVitto, type, worker } of rows) {
    running.delete(id);
    parked.delete(id);
    if (type === 'task.parked') parked.add(id);
    if (type === 'task.started' || type === 'task.resumed') running.set(id, isSubVitto);
    if (type === 'task.started' && worker !== null) workers[worker] = (workers[worker] ?? 0) + 1;
    if (parked.size > fold.mostParked) fold.runningBesideParked = 0;
    fold.mostParked = Math.max(fold.mostParked, parked.size);
    if (parked.size === fold.mostParked)
      fold.runningBesideParked = Math.max(fold.runningBesideParked, running.size);
    fold.mostRunning = Math.max(fold.mostRunning, running.size);
    const subVittos = [...running.values()].filter(Boolean).length;
    fold.mostSubVittosRunning = Math.max(fold.mostSubVittosRunning, subVittos);
  }
  return { ...fold, workers };
}
