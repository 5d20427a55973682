import { outcome as outcomeShape, page } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let server: TestServer;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
});
afterAll(() => bed.close());

const as = (who: { token: string }) => createClient(server.url, who.token);
const judge = (taskId: string, success: boolean, who = bed.owner) =>
  as(who)(`/api/tasks/${taskId}/verdict`, { method: 'PUT', json: { success } });
const list = async (query: string, who = bed.owner) =>
  page(outcomeShape).parse((await as(who)(`/api/outcomes${query}`)).json);

/** A task that ended some seconds ago; the last of them ended at the same time as the one before. */
async function endTask(ago: number, parentId: string | null = null): Promise<string> {
  const id = await bed.createTask(bed.owner.userId);
  await bed.database.pool.query(
    `update vitto_tasks set state = 'completed', is_success = true, lease_holder = null, lease_until = null, parent_id = $3,
       depth = case when $3::uuid is null then 0 else 1 end, ended_at = date_trunc('hour', now()) - make_interval(secs => $2)
     where id = $1`,
    [id, ago, parentId],
  );
  return id;
}

describe('PUT /api/tasks/:id/verdict', () => {
  it("is the user's word, may be changed, and each time stands in the audit trail", async () => {
    const taskId = await endTask(1);
    const wrong = await judge(taskId, false);
    expect(wrong.status).toBe(200);
    expect(outcomeShape.parse(wrong.json)).toMatchObject({ taskId, success: false, verdictSource: 'user' });
    expect((await judge(taskId, true)).json).toMatchObject({ success: true, verdictSource: 'user' });
    const trail = (await as(bed.owner)('/api/audit?action=task.judged')).json['items'] as object[];
    const entry = { action: 'task.judged', objectType: 'task', objectId: taskId };
    expect(trail).toMatchObject([
      { ...entry, detail: { success: true } },
      { ...entry, detail: { success: false } },
    ]);
  });

  it('is refused while the task runs, of an unknown one and of somebody else alike', async () => {
    const open = await judge(await bed.createTask(bed.owner.userId), true);
    expect(open.status).toBe(409);
    expect(open.json).toMatchObject({ code: 'task.not-ended', hint: expect.any(String) });
    const theirs = await judge(await endTask(1), false, bed.stranger);
    expect(theirs.status).toBe(404);
    expect(theirs.json).toMatchObject({ code: 'outcome.not-found' });
  });
});

describe('GET /api/outcomes', () => {
  it('pages from the newest end, by task and by parent, without a gap or a repeat', async () => {
    const parentId = await endTask(100);
    const children: string[] = [];
    for (const ago of [50, 40, 30, 20, 20]) children.push(await endTask(ago, parentId));
    for (const taskId of children) await judge(taskId, true);
    const [first, second, third, ...last] = children as [string, string, string, string, string];
    const seen: string[] = [];
    let cursor = '';
    do {
      const found = await list(`?parentTaskId=${parentId}&limit=2${cursor}`);
      seen.push(...found.items.map((one) => one.taskId));
      cursor = found.nextCursor === null ? '' : `&cursor=${found.nextCursor}`;
    } while (cursor !== '');
    expect(seen).toEqual([...last.toSorted().toReversed(), third, second, first]);
    expect((await list(`?taskId=${third}`)).items.map((one) => one.taskId)).toEqual([third]);
    expect((await list(`?taskId=${parentId}`)).items).toEqual([]);
    expect((await list(`?parentTaskId=${parentId}`, bed.stranger)).items).toEqual([]);
    expect((await list(`?taskId=${third}`, bed.stranger)).items).toEqual([]);
  });

  it('refuses a cursor that it has not given', async () => {
    expect((await as(bed.owner)('/api/outcomes?cursor=x')).status).toBe(422);
  });
});
