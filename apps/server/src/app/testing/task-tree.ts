import { isEndState, type EventEnvelope, type TaskState } from '@vitto/contracts';
import { expect } from 'vitest';
import type { Database } from '../../kernel/database/database.ts';

type Sql = Database['pool'];
type Event = Pick<EventEnvelope, 'seq' | 'type' | 'payload'>;

/** A task of a tree as the database has it, with its whole journal. */
export interface TreeTask {
  id: string;
  parentId: string | null;
  title: string;
  state: TaskState;
  seq: number;
  tokens: number;
  below: number;
  reserved: number;
  code: string | null;
  events: Event[];
}

/** A root task and all below it, parents before children and in the order they were deployed. */
export async function readTree(sql: Sql, rootId: string): Promise<TreeTask[]> {
  const tasks = await sql.query(
    `select id, parent_id as "parentId", title, state, seq, tokens::float8, below_tokens::float8 as below,
       (reserved_tokens + own_reserved_tokens + below_reserved_tokens
         + reserved_cost_nano + own_reserved_cost_nano + below_reserved_cost_nano)::float8 as reserved,
       error->>'code' as code
     from vitto_tasks where root_id = $1 order by depth, round, index, id`,
    [rootId],
  );
  const events = await sql.query(
    `select task_id as "taskId", seq, type, payload from vitto_task_events
     where task_id in (select id from vitto_tasks where root_id = $1) order by task_id, seq`,
    [rootId],
  );
  const journals = Map.groupBy(events.rows as (Event & { taskId: string })[], ({ taskId }) => taskId);
  const rows = tasks.rows as Omit<TreeTask, 'events'>[];
  return rows.map((row) => ({ ...row, events: journals.get(row.id) ?? [] }));
}

export const eventsOf = (task: TreeTask | undefined, ...types: string[]): Event[] =>
  (task?.events ?? []).filter(({ type }) => types.includes(type));

/** What must hold of every tree that has ended, whatever processes died meanwhile. */
export function checkEndedTree(tree: TreeTask[]): void {
  for (const task of tree) {
    const where = `${task.title} (${task.state})`;
    expect(isEndState(task.state), where).toBe(true);
    expect(task.reserved, where).toBe(0);
    expect(
      task.events.map(({ seq }) => seq),
      where,
    ).toEqual(task.events.map((_, index) => index + 1));
    expect(task.events.at(-1)?.type, where).toBe(`task.${task.state}`);
    expect(eventsOf(task, 'task.completed', 'task.failed', 'task.cancelled'), where).toHaveLength(1);
    const started = eventsOf(task, 'task.started').length;
    // One that is cancelled in the line never begins.
    if (task.state === 'cancelled') expect(started, where).toBeLessThanOrEqual(1);
    else expect(started, where).toBe(1);
    const calls = eventsOf(task, 'tool.called').map(({ payload }) => payload['callId']);
    expect(new Set(calls).size, where).toBe(calls.length);
    checkChildren(
      task,
      tree.filter(({ parentId }) => parentId === task.id),
      where,
    );
  }
}

/** A parent's journal has each sub-Vitto once at its beginning and once at its end, and nothing of it after that. */
function checkChildren(parent: TreeTask, children: TreeTask[], where: string): void {
  expect(parent.below, where).toBe(children.reduce((sum, { tokens }) => sum + tokens, 0));
  const told = parent.events.filter(({ type }) => type.startsWith('subvitto.'));
  expect(new Set(told.map(({ payload }) => payload['id'])), where).toEqual(
    new Set(children.map(({ id }) => id)),
  );
  for (const child of children) {
    const its = told.filter(({ payload }) => payload['id'] === child.id).map(({ type }) => type);
    const end = child.state === 'completed' ? 'subvitto.completed' : 'subvitto.failed';
    expect(its[0], `${where}: ${child.title}`).toBe('subvitto.spawned');
    expect(its.at(-1), `${where}: ${child.title}`).toBe(end);
    const ends = its.filter((type) => type === 'subvitto.completed' || type === 'subvitto.failed');
    expect(ends, `${where}: ${child.title}`).toHaveLength(1);
    expect(
      its.filter((type) => type === 'subvitto.spawned'),
      `${where}: ${child.title}`,
    ).toHaveLength(1);
  }
}

/** Counts in the database how many sub-Vittos run whenever one begins to; gives the most so far. */
export async function watchPlaces(sql: Sql): Promise<() => Promise<number>> {
  await sql.query(`
    create table test_running (count int not null);
    create function test_count_running() returns trigger language plpgsql as $$ begin
      insert into test_running select count(*) from vitto_tasks
        where kind = 'subvitto' and state = 'running' and user_id = new.user_id;
      return null; end $$;
    create trigger test_count_running after update of state on vitto_tasks for each row
      when (new.kind = 'subvitto' and new.state = 'running') execute function test_count_running()`);
  return async () => {
    const result = await sql.query('select coalesce(max(count), 0) as most from test_running');
    return (result.rows[0] as { most: number }).most;
  };
}
