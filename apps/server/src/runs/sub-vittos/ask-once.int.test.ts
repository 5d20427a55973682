import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { GuestSession } from '@vitto/contracts';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type GuestRequest } from '../../engine/index.ts';
import { decideApproval, settleAnsweredQuestions } from '../decide-approval.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from '../testing/run-harness.ts';
import { workOff } from '../testing/work-off.ts';

let h: RunHarness;
afterEach(() => h.drop());

const work = defineTool({
  name: 'work',
  description: 'Works.',
  input: z.object({}),
  domain: 'code_execution',
  risk: 'write',
  tier: 'vm',
  idempotency: 'once',
  timeoutMs: 1_000,
  run: () => Promise.resolve({ status: 'ok', text: 'worked' }),
});
const session = { id: 'sandbox', kind: 'process-sandbox', home: '/home/user' } as unknown as GuestSession;
const textOf = (request: LanguageModelV4CallOptions) => JSON.stringify(request.prompt);

/** A root whose sub-Vittos `one`, `two` and `three` each call the tool, where there is no VM. */
async function begin(beforeAsking: (taskId: string) => Promise<void>) {
  const model = functionModel((request) => {
    const text = textOf(request);
    if (text.includes('tool-result')) return turn({ text: 'done' });
    if (!text.includes('"root"')) return turn({ calls: [{ id: 'w', tool: 'work', args: {} }] });
    const tasks = ['one', 'two', 'three'].map((description) => ({ description, tools: ['work'] }));
    return turn({ calls: [{ id: 'd', tool: 'deploy_agents', args: { tasks } }] });
  });
  const asked: (readonly [string, GuestRequest['degradation']])[] = [];
  h = await createRunHarness({
    models: [model],
    tools: [work],
    guests: {
      claim: async (task, { degradation }) => {
        asked.push([task.title, degradation]);
        if (degradation !== null) {
          return { kind: 'claimed', session, vm: null, degradedReason: 'no VM', notices: [] };
        }
        await beforeAsking(task.title);
        return { kind: 'ask', reason: 'There is no VM.', isPassing: false };
      },
      rest: () => Promise.resolve(),
      release: () => Promise.resolve(),
      suspend: () => Promise.resolve(),
      facts: () => Promise.resolve(null),
    },
  });
  const { taskId } = await h.start('root');
  await h.run(taskId);
  h.woken.splice(0);
  const rows = await h.database.pool.query<{ id: string }>(
    'select id from vitto_tasks where parent_id = $1 order by index',
    [taskId],
  );
  const ids = rows.rows.map(({ id }) => id) as [string, string, string];
  const questions = async () => {
    const found = await h.database.pool.query<{
      id: string;
      title: string;
      state: string;
      by: string | null;
    }>(
      `select a.id, t.title, a.state, a.decided_by as by from vitto_approvals a join vitto_tasks t on t.id = a.task_id order by a.created_at`,
    );
    return found.rows;
  };
  return { taskId, ids, asked, questions };
}
async function approve(approvalId = '') {
  await decideApproval(h.runs, { userId: h.userId, approvalId, decision: 'approved', by: 'cli' });
}

it('counts what the user agreed to for another one, also when that was said while it asked', async () => {
  const { taskId, ids, asked, questions } = await begin(async (title) => {
    if (title === 'two') await approve((await questions())[0]?.id);
  });
  await h.run(ids[0]);
  // The question of the second is written after the decision has looked for the same questions.
  expect(await h.run(ids[1])).toMatchObject({ kind: 'parked', state: 'waiting_approval' });
  expect(await questions()).toMatchObject([
    { title: 'one', state: 'approved', by: 'cli' },
    { title: 'two', state: 'pending' },
  ]);
  await settleAnsweredQuestions(h.runs);
  expect(await questions()).toMatchObject([
    { title: 'one', state: 'approved' },
    { title: 'two', state: 'approved', by: 'cli' },
  ]);
  h.woken.push(ids[2]);
  await workOff(h);
  expect(await h.task(taskId)).toMatchObject({ state: 'completed' });
  expect(asked.filter(([title]) => title === 'three')).toEqual([['three', 'beforehand']]);
  expect(await questions()).toHaveLength(2);
});

it('leaves a question alone that nobody has answered, and what another task was allowed', async () => {
  const { ids, questions } = await begin(() => Promise.resolve());
  await h.run(ids[0]);
  const { taskId: other } = await h.start('two alone');
  await h.run(other);
  const [one, alone] = await questions();
  await settleAnsweredQuestions(h.runs);
  expect((await questions()).map(({ state }) => state)).toEqual(['pending', 'pending']);
  await approve(alone?.id);
  await settleAnsweredQuestions(h.runs);
  expect((await questions()).find(({ id }) => id === one?.id)).toMatchObject({ state: 'pending' });
});
