import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { GuestError } from '@vitto/contracts';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../engine/index.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from '../testing/run-harness.ts';
import { workOff } from '../testing/work-off.ts';

const open: RunHarness[] = [];
afterEach(async () => {
  for (const h of open.splice(0)) await h.drop();
});

const textOf = (options: LanguageModelV4CallOptions) => JSON.stringify(options.prompt);
function taskOf(options: LanguageModelV4CallOptions): string {
  const part = options.prompt.find((message) => message.role === 'user')?.content[0];
  return typeof part === 'object' && part.type === 'text' ? part.text : '';
}
const call = (id: string, tool: string, args: object) => turn({ calls: [{ id, tool, args }] });

async function begin(
  answer: (task: string, text: string) => ReturnType<typeof turn>,
  more: Partial<Parameters<typeof createRunHarness>[0]> = {},
) {
  const h = await createRunHarness({
    models: [functionModel((request) => answer(taskOf(request), textOf(request)))],
    ...more,
  });
  open.push(h);
  const { taskId, conversationId } = await h.start('root');
  if (!h.woken.includes(taskId)) h.woken.push(taskId);
  await workOff(h);
  const find = async (title: string) => {
    const rows = await h.database.pool.query<{ id: string }>('select id from vitto_tasks where title = $1', [
      title,
    ]);
    return rows.rows[0]?.id ?? '';
  };
  return { h, taskId, conversationId, find };
}

it.each([
  ['answers what it asks', 'asks'],
  ['tells it something while it waits for its own', 'deploys'],
])('marks a sub-Vitto when a parent that has read text from outside %s', async (_, child) => {
  const ids = new Map<string, string>();
  const ask = call('q1', 'ask_user', { question: 'which?' });
  const { h, taskId, conversationId, find } = await begin((task, text) => {
    if (task === 'deploys' && !text.includes('"d2"'))
      return call('d2', 'deploy_agents', { tasks: [{ description: 'leaf' }] });
    if (task !== 'root') return text.includes('hurry') && task === child ? turn({ text: 'hurried' }) : ask;
    if (!text.includes('"d1"'))
      return call('d1', 'deploy_agents', { tasks: [{ description: 'asks' }, { description: 'deploys' }] });
    if (!text.includes('"s1"')) return call('s1', 'steer_agent', { id: ids.get(child), message: 'hurry' });
    return turn({ text: 'It knows.' });
  });
  for (const title of ['asks', 'deploys']) ids.set(title, await find(title));
  await h.database.pool.query('update vitto_tasks set is_tainted = true where id = $1', [taskId]);
  await h.say(conversationId, 'tell it to hurry');
  await workOff(h);
  for (const [title, id] of ids) expect((await h.task(id)).tainted).toBe(title === child);
});

it('gives no machine to a sub-Vitto that works in-process, also not for files that it hands over', async () => {
  let claims = 0;
  const { h, find } = await begin(
    (task, text) => {
      if (task === 'root')
        return text.includes('"d1"')
          ? turn({ text: 'ok' })
          : call('d1', 'deploy_agents', { tasks: [{ description: 'reads', tier: 'in-process' }] });
      if (text.includes('"c1"')) return call('c2', 'task_complete', { report: 'without', success: true });
      return call('c1', 'task_complete', { report: 'with', success: true, files: ['/home/user/x'] });
    },
    {
      guests: {
        claim: () => {
          claims += 1;
          return Promise.reject(new GuestError('unavailable', 'none in this test'));
        },
        rest: () => Promise.resolve(),
        release: () => Promise.resolve(),
        suspend: () => Promise.resolve(),
        facts: () => Promise.resolve(null),
      },
    },
  );
  const id = await find('reads');
  const refused = (await h.events(id)).find(
    (event) => event.payload['callId'] === 'c1' && event.type === 'tool.called',
  );
  expect(refused?.payload['text']).toContain('works in-process, without a machine');
  expect(await h.task(id)).toMatchObject({ state: 'completed', result: 'without' });
  expect(claims).toBe(0);
});

it('lets nobody have tools below a sub-Vitto that these were not named for', async () => {
  const [look, act] = ['look', 'act'].map((name) =>
    defineTool({
      name,
      description: name,
      input: z.object({}),
      domain: 'knowledge',
      risk: 'read',
      tier: 'in-process',
      idempotency: 'pure',
      timeoutMs: 1_000,
      run: () => Promise.resolve({ status: 'ok', text: name }),
    }),
  );
  const { h, find } = await begin(
    (task, text) => {
      const leaf = (tools?: string[]) => ({ tasks: [{ description: 'leaf', ...(tools ? { tools } : {}) }] });
      if (task === 'root' && !text.includes('"d1"'))
        return call('d1', 'deploy_agents', { tasks: [{ description: 'middle', tools: ['look'] }] });
      if (task === 'middle' && !text.includes('"m1"')) return call('m1', 'deploy_agents', leaf(['act']));
      if (task === 'middle' && !text.includes('"m2"'))
        return call('m2', 'deploy_agents', leaf(['look', 'task_complete']));
      if (task === 'middle' && !text.includes('"m3"')) return call('m3', 'deploy_agents', leaf());
      return turn({ text: 'ok' });
    },
    { tools: [look, act].filter((tool) => tool !== undefined) },
  );
  const events = await h.events(await find('middle'));
  const refused = events.find((event) => event.type === 'tool.called' && event.payload['callId'] === 'm1');
  expect(refused?.payload['text']).toContain('was not given act itself');
  const spawned = events.filter((event) => event.type === 'subvitto.spawned');
  expect(spawned).toHaveLength(2);
  for (const { payload } of spawned) {
    expect(payload['tools']).toContain('look');
    expect(payload['tools']).not.toContain('act');
  }
});
