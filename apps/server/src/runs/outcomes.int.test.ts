import type { Outcome, Task } from '@vitto/contracts';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../engine/index.ts';
import { listOutcomes } from '../intelligence/index.ts';
import { createIdleOutcomes } from '../intelligence/testing.ts';
import { cancelRun } from './cancel-run.ts';
import { removeConversation } from './remove-conversation.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from './testing/run-harness.ts';
import { workOff } from './testing/work-off.ts';

// Outcomes of tasks that really ran: what the engine journals is what they are read from.

const open: RunHarness[] = [];
afterEach(async () => {
  for (const harness of open.splice(0)) await harness.drop();
});

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks something up.',
  input: z.strictObject({ word: z.string() }),
  tier: 'in-process',
  risk: 'read',
  domain: 'web_search',
  idempotency: 'pure',
  timeoutMs: 5_000,
  run: ({ word }) =>
    Promise.resolve(
      word === 'broken' ? { status: 'error', text: 'it is broken' } : { status: 'ok', text: word },
    ),
});

type Turns = Parameters<typeof turn>[0][];
async function begin(turns: Turns, options: Parameters<typeof createRunHarness>[0] = {}) {
  const model = functionModel((_, call) => {
    const next = turns[call - 1];
    if (next === undefined) throw new Error('the model is gone');
    return turn(next);
  });
  const harness = await createRunHarness({ models: [model], tools: [lookUp], ...options });
  open.push(harness);
  return harness;
}
const report = (harness: RunHarness, taskId: string) => createIdleOutcomes(harness.database).report(taskId);
const calls = (tool: string, args: unknown) => ({ calls: [{ id: `call-${tool}`, tool, args }] });

/** What an outcome takes from its task, however that ended. */
function expectOf(task: Task, outcome: Outcome | null): void {
  expect(outcome).toMatchObject({
    taskId: task.id,
    end: task.state,
    title: task.title,
    tokens: task.spending.tokens,
    iterations: task.spending.iterations,
    costUsd: task.spending.costUsd,
    endedAt: task.endedAt,
    source: 'chat',
    verdictSource: 'self',
  });
}

it('a task that completed has the tools that worked, and what it says of its success', async () => {
  const harness = await begin([
    calls('look_up', { word: 'broken' }),
    calls('look_up', { word: 'fine' }),
    calls('look_up', { wrong: true }),
    calls('task_complete', { report: 'found', success: true }),
  ]);
  const { taskId } = await harness.start('look');
  await harness.run(taskId);
  const outcome = await report(harness, taskId);
  expectOf(await harness.task(taskId), outcome);
  expect(outcome).toMatchObject({
    success: true,
    domain: 'web_search',
    toolsUsed: ['look_up', 'task_complete'],
    model: 'test/model',
  });
});

it('a task that completed and says that it did not reach its goal is no success', async () => {
  const harness = await begin([calls('task_complete', { report: 'not found', success: false })]);
  const { taskId } = await harness.start('look');
  await harness.run(taskId);
  const outcome = await report(harness, taskId);
  expectOf(await harness.task(taskId), outcome);
  expect(outcome).toMatchObject({ end: 'completed', success: false, domain: 'system' });
});

it('a task that failed is of the domain in which it tried', async () => {
  const harness = await begin([calls('look_up', { word: 'broken' })]);
  const { taskId } = await harness.start('look');
  await harness.run(taskId);
  const outcome = await report(harness, taskId);
  expectOf(await harness.task(taskId), outcome);
  expect(outcome).toMatchObject({ end: 'failed', success: false, domain: 'web_search', toolsUsed: [] });
});

it('a task whose workers died too often has one, without anything that it did', async () => {
  const harness = await begin([]);
  const { taskId } = await harness.start('look');
  await harness.database.pool.query(
    `update vitto_tasks set state = 'running', lease_holder = 'gone', lease_until = now() - interval '1 s', deaths = 2,
       fence = 1, started_at = now(), running_since = now() where id = $1`,
    [taskId],
  );
  await harness.run(taskId);
  const outcome = await report(harness, taskId);
  expectOf(await harness.task(taskId), outcome);
  expect(outcome).toMatchObject({ end: 'failed', success: false, domain: 'system', model: null });
});

it('a task that a person stopped is no success by its own word', async () => {
  const harness = await begin([calls('ask_user', { question: 'Which?' })]);
  const { taskId } = await harness.start('look');
  await harness.run(taskId);
  expect(await report(harness, taskId)).toBeNull();
  await cancelRun(harness.runs, { userId: harness.userId, taskId, by: 'web' });
  const outcome = await report(harness, taskId);
  expectOf(await harness.task(taskId), outcome);
  expect(outcome).toMatchObject({ end: 'cancelled', success: false });
});

it('a sub-Vitto has one of its own; that of its parent is of delegation and holds what both spent', async () => {
  const complete = calls('task_complete', { report: 'known', success: true });
  const sent = { tasks: [{ description: 'look it up', tools: ['look_up'] }] };
  const model = functionModel(({ prompt }) => {
    const text = JSON.stringify(prompt);
    const begins = text.includes('the root')
      ? calls('deploy_agents', sent)
      : calls('look_up', { word: 'fine' });
    return turn(text.includes('tool-result') ? complete : begins);
  });
  const harness = await createRunHarness({ models: [model], tools: [lookUp] });
  open.push(harness);
  const { taskId } = await harness.start('the root');
  await workOff(harness);
  const found = await harness.database.pool.query('select id from vitto_tasks where parent_id = $1', [
    taskId,
  ]);
  const [child] = found.rows as { id: string }[];
  const parents = await report(harness, taskId);
  const own = await report(harness, child?.id ?? '');
  expect(parents).toMatchObject({
    success: true,
    domain: 'delegation',
    parentTaskId: null,
    rootTaskId: taskId,
  });
  const place = { parentTaskId: taskId, rootTaskId: taskId, source: 'subvitto', role: null };
  expect(own).toMatchObject({ ...place, success: true, domain: 'web_search', iterations: 2 });
  expect(own?.toolsUsed).toEqual(['look_up', 'task_complete']);
  expect(parents?.tokens).toBe(2 * (own?.tokens ?? 0));
});

it('a conversation that is deleted leaves what became of its tasks, also of one that this ends, and none of its words', async () => {
  const harness = await begin([
    calls('task_complete', { report: 'done', success: true }),
    calls('ask_user', { question: 'Which?' }),
  ]);
  const first = await harness.start('look');
  await harness.run(first.taskId);
  const second = await harness.say(first.conversationId, 'and now?');
  await harness.run(second.taskId);
  const { userId } = harness;
  await removeConversation(harness.runs, { userId, conversationId: first.conversationId, by: 'web' });
  const rows = await listOutcomes(harness.database.pool, userId, {
    taskId: null,
    parentTaskId: null,
    before: null,
    limit: 9,
  });
  expect(rows.map(({ taskId, end, success, title }) => [taskId, end, success, title])).toEqual([
    [second.taskId, 'cancelled', false, ''],
    [first.taskId, 'completed', true, ''],
  ]);
});
