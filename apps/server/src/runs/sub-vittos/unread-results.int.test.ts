import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { afterEach, expect, it } from 'vitest';
import { RunState, type FoldEvent } from '../../engine/index.ts';
import { steerRun } from '../index.ts';
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
const deploy = (description: string, id: string) =>
  turn({ calls: [{ id, tool: 'deploy_agents', args: { tasks: [{ description }] } }] });
const wait = (id: string) => turn({ calls: [{ id, tool: 'wait_for_agents', args: {} }] });
const done = (report: string) =>
  turn({ calls: [{ id: `done-${report}`, tool: 'task_complete', args: { report, success: true } }] });
const ask = turn({ calls: [{ id: 'ask', tool: 'ask_user', args: { question: 'which?' } }] });

/** A root task whose sub-Vittos ask the user and then say what they found. */
async function begin(root: (text: string) => ReturnType<typeof turn> | Promise<ReturnType<typeof turn>>) {
  const model = functionModel((request) => {
    const text = textOf(request);
    const task = taskOf(request);
    if (task === 'root') return root(text);
    return text.includes('green light') ? done(`${task} has its result`) : ask;
  });
  const h = await createRunHarness({ models: [model] });
  open.push(h);
  const { taskId, conversationId } = await h.start('root');
  if (!h.woken.includes(taskId)) h.woken.push(taskId);
  await workOff(h);
  const answer = async (title: string) => {
    const rows = await h.database.pool.query<{ id: string }>('select id from vitto_tasks where title = $1', [
      title,
    ]);
    const child = rows.rows[0]?.id ?? '';
    await steerRun(h.runs, { userId: h.userId, taskId: child, text: 'green light', source: 'web' });
  };
  return { h, taskId, conversationId, answer };
}
const resultOf = async (h: RunHarness, taskId: string, callId: string) =>
  (await h.events(taskId)).find((event) => event.type === 'tool.called' && event.payload['callId'] === callId)
    ?.payload;

it('gives the results of an earlier round too that was still at work when another one was deployed', async () => {
  const { h, taskId, conversationId, answer } = await begin((text) => {
    if (!text.includes('"d1"')) return deploy('first', 'd1');
    if (!text.includes('"d2"')) return deploy('second', 'd2');
    if (text.includes('"w1"')) return done('all read');
    return text.includes('All your sub-Vittos have ended')
      ? wait('w1')
      : turn({ text: 'One of two is there.' });
  });
  await h.say(conversationId, 'look at the second one as well');
  await workOff(h);
  expect(await h.task(taskId)).toMatchObject({ state: 'waiting_children' });
  await answer('second');
  await workOff(h);
  expect((await resultOf(h, taskId, 'd2'))?.['text']).toContain('second has its result');
  expect(await h.task(taskId)).toMatchObject({ state: 'waiting_children' });
  await answer('first');
  await workOff(h);
  const waited = (await resultOf(h, taskId, 'w1'))?.['text'];
  expect(waited).toContain('first has its result');
  expect(waited).not.toContain('second has its result');
  expect(await h.task(taskId)).toMatchObject({ state: 'completed', result: 'all read' });
});

it('tells a model of results once it has not been told, and not after it has read them', async () => {
  const { h, taskId, conversationId, answer } = await begin((text) => {
    if (!text.includes('"d1"')) return deploy('first', 'd1');
    if (!text.includes('"w1"')) return wait('w1');
    expect(text).not.toContain('All your sub-Vittos have ended');
    return done('all read');
  });
  await h.say(conversationId, 'how is it?');
  await workOff(h);
  await answer('first');
  await workOff(h);
  expect(await h.task(taskId)).toMatchObject({ state: 'completed', result: 'all read' });
});

it('knows of results that were there before an iteration which knew nothing of them, also after a restart', async () => {
  const { h, taskId, conversationId } = await begin((text) =>
    text.includes('"d1"') ? turn({ text: 'It still works.' }) : deploy('first', 'd1'),
  );
  await h.say(conversationId, 'how is it?');
  await workOff(h);
  const events: FoldEvent[] = (await h.events(taskId)).filter(({ type }) => type !== 'task.parked');
  const round = events.find(({ type }) => type === 'orchestrator.round')?.payload['subTaskIds'] as string[];
  const last = events.findLastIndex(({ type }) => type === 'agent.iteration');
  const ended = { type: 'subvitto.completed', payload: { id: round[0] } };
  // The end was written while the iteration was on its way, so its notes say nothing of it.
  events.splice(last, 0, { ...(events[last] as FoldEvent), ...ended });
  const state = new RunState(taskId);
  for (const event of events) state.apply(event);
  expect(state).toMatchObject({ hasUnreadResults: true, isAnswered: false });
});
