import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../kernel/database/transaction.ts';
import type { OutcomeNews } from './outcome-feedback-service.ts';
import { queueOutcome } from './queues.ts';
import { createOutcomeTestbed } from './testing/outcome-testbed.ts';

let bed: Awaited<ReturnType<typeof createOutcomeTestbed>>;
beforeEach(async () => {
  bed = await createOutcomeTestbed();
});
afterEach(() => bed.close());

const UNTIL = { timeout: 30_000, interval: 50 };

describe('the end of a task', () => {
  it('is reported when the transaction that ends it commits, and only then', async () => {
    const service = bed.createService();
    await service.start();
    const kept = await bed.endTask();
    const undone = await bed.endTask();
    await inTransaction(bed.database, (client) => queueOutcome(bed.queue, client, kept));
    const rolledBack = inTransaction(bed.database, async (client) => {
      await queueOutcome(bed.queue, client, undone);
      throw new Error('the end did not come about');
    });
    await expect(rolledBack).rejects.toThrow('the end did not come about');
    const jobs = await bed.database.pool.query(
      "select data from vitto_queue.job where name = 'vitto-outcomes'",
    );
    expect(jobs.rows).toEqual([{ data: { taskId: kept } }]);
    // Whoever queued it may be gone: any worker reports it.
    const worker = bed.createService();
    await worker.work();
    await vi.waitFor(async () => expect(await bed.countOutcomes(kept)).toBe(1), UNTIL);
  });

  it('of the last 30 days is found by a sweep when nobody has queued it, in however many batches', async () => {
    const { database, userId } = bed;
    await database.pool.query(
      `insert into vitto_tasks (id, user_id, root_id, depth, kind, title, state, complexity, estimated_duration, max_iterations,
         ended_at, is_success)
       select id, $1, id, 0, 'chat', 'old', 'completed', 'simple', 'short', 50, now() - make_interval(hours => n), true
       from (select gen_random_uuid() as id, n from generate_series(1, 450) n) as made`,
      [userId],
    );
    await database.pool.query(
      `update vitto_tasks set ended_at = now() - interval '31 days' where id in (select id from vitto_tasks limit 50)`,
    );
    await bed.startTask();
    const service = bed.createService();
    await service.start();
    expect(await service.sweep()).toBe(400);
    expect(await service.sweep()).toBe(0);
    const { rows } = await database.pool.query('select count(*)::int from vitto_outcomes');
    expect(rows).toEqual([{ count: 400 }]);
  });
});

describe('subscribers', () => {
  it('are told of a report and of each change of a verdict, with what was before', async () => {
    const told: OutcomeNews[] = [];
    const service = bed.createService();
    service.subscribe('trust', (news) => Promise.resolve(void told.push(news)));
    await service.start();
    await service.work();
    const taskId = await bed.endTask();
    for (let times = 0; times < 20; times += 1) await service.report(taskId);
    await vi.waitFor(() => expect(told).toHaveLength(1), UNTIL);
    const word = { userId: bed.userId, taskId, source: 'user' as const };
    await service.giveVerdict({ ...word, success: false });
    await service.giveVerdict({ ...word, success: false });
    await service.giveVerdict({ ...word, success: true, source: 'check' });
    await vi.waitFor(() => expect(told).toHaveLength(2), UNTIL);
    const [first, second] = told as [OutcomeNews, OutcomeNews];
    expect(first).toMatchObject({ userId: bed.userId, outcome: { taskId, success: true }, previous: null });
    expect(second.previous).toEqual(first.outcome);
    expect(second.outcome).toEqual({ ...first.outcome, success: false, verdictSource: 'user' });
    // The queue holds nothing more to tell.
    await vi.waitFor(async () => expect(await openNews()).toBe(0), UNTIL);
    expect(told).toHaveLength(2);
  });

  it('that throw are told again, of the outcome as it stands then, and keep nobody else from being told', async () => {
    const well: OutcomeNews[] = [];
    const ill: OutcomeNews[] = [];
    let isIll = true;
    const service = bed.createService();
    service.subscribe('ill', (news) => {
      if (isIll) return Promise.reject(new Error('not today'));
      return Promise.resolve(void ill.push(news));
    });
    service.subscribe('well', (news) => Promise.resolve(void well.push(news)));
    await service.start();
    await service.work();
    const taskId = await bed.endTask();
    await service.report(taskId);
    await vi.waitFor(() => expect(well).toHaveLength(1), UNTIL);
    await service.giveVerdict({ userId: bed.userId, taskId, success: false, source: 'user' });
    isIll = false;
    await vi.waitFor(() => expect(ill).toHaveLength(2), UNTIL);
    expect(ill.map((news) => news.outcome.success)).toEqual([false, false]);
    await vi.waitFor(() => expect(well).toHaveLength(2), UNTIL);
  });

  it('are told by a worker of what another process has changed, one of a task at a time', async () => {
    const service = bed.createService();
    const worker = bed.createService();
    let atOnce = 0;
    let most = 0;
    let done = 0;
    const handler = async () => {
      most = Math.max(most, (atOnce += 1));
      await bed.database.pool.query('select pg_sleep(0.02)');
      atOnce -= 1;
      done += 1;
    };
    for (const one of [service, worker]) {
      one.subscribe('trust', handler);
      await one.start();
    }
    const taskId = await bed.endTask();
    await service.report(taskId);
    for (const success of [false, true, false, true]) {
      await service.giveVerdict({ userId: bed.userId, taskId, success, source: 'user' });
    }
    await worker.work();
    await vi.waitFor(() => expect(done).toBe(5), UNTIL);
    expect(most).toBe(1);
  });

  it('are not two of one name', () => {
    const service = bed.createService();
    service.subscribe('trust', () => Promise.resolve());
    expect(() => service.subscribe('trust', () => Promise.resolve())).toThrow('trust');
  });
});

async function openNews(): Promise<number> {
  const { rows } = await bed.database.pool.query(
    "select count(*)::int from vitto_queue.job where name = 'vitto-outcome-news' and state <> 'completed'",
  );
  return (rows[0] as { count: number }).count;
}
