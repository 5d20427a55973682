import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { GuestError, type ExecRequest, type GuestSession } from '@vitto/contracts';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, type DecideCall } from '../../engine/index.ts';
import { OutcomeFeedbackService } from '../../intelligence/index.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from '../testing/run-harness.ts';
import { workOff } from '../testing/work-off.ts';

const open: RunHarness[] = [];
afterEach(async () => {
  for (const h of open.splice(0)) await h.drop();
});

/** There are tools of a machine here. */
const run = defineTool({
  name: 'run_command',
  description: 'Runs.',
  input: z.object({ command: z.string() }),
  domain: 'code_execution',
  risk: 'write',
  tier: 'vm',
  idempotency: 'once',
  timeoutMs: 1_000,
  run: () => Promise.resolve({ status: 'ok', text: '' }),
});
const textOf = (request: LanguageModelV4CallOptions) => JSON.stringify(request.prompt.slice(1));
const complete = (id: string, success = true) =>
  turn({ calls: [{ id, tool: 'task_complete', args: { report: `report ${id}`, success } }] });

/** A root that deploys one sub-Vitto with a check, whose command ends with these codes, one after the other. */
async function begin(
  child: (text: string) => ReturnType<typeof turn>,
  exitCodes: (number | null | 'lost')[],
  more: { decide?: DecideCall; task?: object } = {},
) {
  const commands: ExecRequest[] = [];
  const none = { text: 'three tests fail', totalBytes: 0, missingBytes: 0, replaced: false };
  const guest = {
    id: 'g1',
    kind: 'process-sandbox',
    home: '/home/user',
    exec: (request: ExecRequest) => {
      commands.push(request);
      const exitCode = exitCodes.shift() ?? 0;
      if (exitCode === 'lost') return Promise.reject(new GuestError('session-lost', 'it is gone'));
      return Promise.resolve({
        exitCode,
        signal: null,
        timedOut: false,
        limit: null,
        stdout: none,
        stderr: { ...none, text: '' },
        durationMs: 1,
        leftoversKilled: 0,
      });
    },
  } as unknown as GuestSession;
  const model = functionModel((request) => {
    const text = textOf(request);
    if (!text.includes('check this')) throw new Error('nobody else asks');
    if (!text.includes('root job')) return child(text);
    if (text.includes('tool-result')) return complete('root');
    const tasks = [{ description: 'check this', check: 'npm test', ...more.task }];
    return turn({ calls: [{ id: 'd1', tool: 'deploy_agents', args: { tasks } }] });
  });
  const decide = more.decide === undefined ? {} : { decide: more.decide };
  const h = await createRunHarness({ models: [model], tools: [run], guest, ...decide });
  open.push(h);
  const { taskId } = await h.start('root job: check this');
  if (!h.woken.includes(taskId)) h.woken.push(taskId);
  await workOff(h);
  const found = await h.database.pool.query<{ id: string }>(
    'select id from vitto_tasks where parent_id = $1',
    [taskId],
  );
  const childId = found.rows[0]?.id ?? '';
  const outcomes = new OutcomeFeedbackService({
    database: h.database,
    queue: h.runs.queue as never,
    logger: silentLogger,
  });
  return { h, taskId, childId, commands, outcomes };
}

it('lets a sub-Vitto end well only when its check passes, and counts that more than its own word', async () => {
  const { h, taskId, childId, commands, outcomes } = await begin(
    (text) => complete(text.includes('"c1"') ? 'c2' : 'c1'),
    [1, 0],
  );
  expect(commands.map(({ command }) => command)).toEqual(['npm test', 'npm test']);
  const events = await h.events(childId);
  const results = events.filter((event) => event.type === 'tool.called').map((event) => event.payload);
  expect(results).toMatchObject([
    {
      callId: 'c1',
      status: 'error',
      text: expect.stringMatching(
        /not ended: its acceptance check failed[^]*exit code 1[^]*three tests fail/,
      ),
    },
    { callId: 'c2', status: 'ok' },
  ]);
  expect(
    events.filter((event) => event.type.startsWith('phase.')).map((event) => event.payload),
  ).toMatchObject([
    { phase: 'acceptance-check', command: 'npm test' },
    { phase: 'acceptance-check', exitCode: 1 },
    { phase: 'acceptance-check', command: 'npm test' },
    { phase: 'acceptance-check', exitCode: 0 },
  ]);
  expect(await h.task(childId)).toMatchObject({ state: 'completed', success: true, tier: 'vm' });
  expect(await outcomes.report(childId)).toMatchObject({ success: true, verdictSource: 'check' });
  expect(await outcomes.report(taskId)).toMatchObject({ success: true, verdictSource: 'self' });
});

it('does not take a check for passed whose machine was lost', async () => {
  const { h, childId, commands, outcomes } = await begin(
    (text) => complete(text.includes('"c1"') ? 'c2' : 'c1'),
    ['lost', 0],
  );
  expect(commands).toHaveLength(2);
  const called = (await h.events(childId)).find((event) => event.type === 'tool.called');
  expect(called?.payload).toMatchObject({
    status: 'error',
    text: expect.stringContaining('could not be run (session-lost: it is gone)'),
  });
  expect(await outcomes.report(childId)).toMatchObject({ success: true, verdictSource: 'check' });
});

it('takes its word that it did not succeed, and no answer for a report', async () => {
  const { h, childId, commands, outcomes } = await begin(
    (text) =>
      text.includes('end the task with task_complete')
        ? complete('c1', false)
        : turn({ text: 'All is well.' }),
    [],
  );
  expect(commands).toEqual([]);
  expect(await h.task(childId)).toMatchObject({ state: 'completed', success: false });
  expect(await outcomes.report(childId)).toMatchObject({ success: false, verdictSource: 'self' });
});

it('runs no check that would have to be asked for, and takes nobody\u2019s word for it', async () => {
  const { h, childId, commands, outcomes } = await begin(
    (text) => complete(text.includes('"c1"') ? 'c2' : 'c1', !text.includes('"c1"')),
    [],
    {
      decide: (call) =>
        call.tool === 'run_command'
          ? { verdict: 'ask', reason: 'not trusted yet' }
          : { verdict: 'act', reason: '' },
    },
  );
  expect(commands).toEqual([]);
  const [first] = (await h.events(childId)).filter((event) => event.type === 'tool.called');
  expect(first?.payload).toMatchObject({
    status: 'error',
    text: expect.stringContaining('could not be run (not trusted yet)'),
  });
  expect(await h.task(childId)).toMatchObject({ state: 'completed', success: false });
  expect(await outcomes.report(childId)).toMatchObject({ success: false, verdictSource: 'self' });
});

it('refuses a check where there is no machine', async () => {
  const { h, taskId, childId } = await begin(() => complete('c1'), [], { task: { tier: 'in-process' } });
  expect(childId).toBe('');
  const called = (await h.events(taskId)).find((event) => event.type === 'tool.called');
  expect(called?.payload).toMatchObject({
    status: 'error',
    text: expect.stringContaining('needs a machine'),
  });
});
