import { page, task } from '@vitto/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let server: TestServer;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
});
afterAll(() => bed.close());

const list = async (query: string, who: { token: string } = bed.owner) =>
  page(task).parse((await createClient(server.url, who.token)(`/api/tasks?${query}`)).json);

async function addBelow(rootId: string, parentId: string, depth: number): Promise<string> {
  const id = await bed.createTask(bed.owner.userId);
  await bed.database.pool.query(
    `update vitto_tasks set root_id = $2, parent_id = $3, depth = $4, kind = 'subvitto' where id = $1`,
    [id, rootId, parentId, depth],
  );
  return id;
}

it('a root is listed with all below it, a page at a time, and with nothing else', async () => {
  const root = await bed.createTask(bed.owner.userId);
  const child = await addBelow(root, root, 1);
  const grandchild = await addBelow(root, child, 2);
  await bed.createTask(bed.owner.userId);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const found: Awaited<ReturnType<typeof list>> = await list(`rootId=${root}&limit=1${from}`);
    seen.push(...found.items.map((one) => one.id));
    cursor = found.nextCursor;
  }
  expect(seen).toEqual([grandchild, child, root]);
  expect((await list(`rootId=${root}`, bed.stranger)).items).toEqual([]);
  expect((await list(`rootId=${child}`)).items).toEqual([]);
});
