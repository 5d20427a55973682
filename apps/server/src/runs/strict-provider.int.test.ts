import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createModel, defineTool, type Model } from '../engine/index.ts';
import {
  startFakeProvider,
  type FakeProvider,
  type FakeReply,
} from '../engine/models/testing/fake-provider.ts';
import { systemClock } from '../kernel/clock.ts';
import { cancelRun } from './index.ts';
import { createRunHarness, type RunHarness } from './testing/run-harness.ts';

const fox = defineTool({
  name: 'fox',
  description: 'Gives a text whose cut falls into an emoji.',
  input: z.object({}),
  domain: 'system',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'pure',
  timeoutMs: 5_000,
  run: () => Promise.resolve({ status: 'ok', text: `${'a'.repeat(9_599)}🦊 ${'👨‍👩‍👧'.repeat(4_000)} \ud83e` }),
});
const hang = defineTool({
  ...fox,
  name: 'hang',
  run: (_: unknown, context: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) =>
      context.signal.addEventListener('abort', () => reject(context.signal.reason as Error)),
    ),
} as never);

const call = (id: string, name: string): FakeReply => ({
  answer: { calls: [{ id, name, fragments: ['{}'] }] },
});
const say = (...text: string[]): FakeReply => ({ answer: { text } });

/** Providers that refuse a call without its result, a body that is not well-formed, and the like, as the real ones do. */
describe.each(['anthropic', 'openai', 'compatible', 'google'] as const)(
  'a conversation with a strict %s',
  (dialect) => {
    let h: RunHarness;
    let provider: FakeProvider;
    let replies: FakeReply[] = [];

    beforeAll(async () => {
      h = await createRunHarness({ tools: [fox, hang] });
      provider = await startFakeProvider(dialect, () => replies.shift() ?? say('Nothing more to say.'));
      const model: Model = await createModel(
        { kind: 'provider', id: `${dialect}/test-model`, provider: dialect, model: 'test-model' },
        {
          providers: { [dialect]: { apiKey: 'test-key-000000', baseUrl: provider.url } },
          fetch: globalThis.fetch,
          clock: systemClock,
          readFile: () => Promise.reject(new Error('not used')),
          maskSecrets: (text) => text,
        },
      );
      h.setModels([model]);
    });
    afterAll(async () => {
      await provider.close();
      await h.drop();
    });

    it('goes on after a cancel in the middle of calls', async () => {
      replies = [
        {
          answer: {
            calls: [
              { id: 'c1', name: 'fox', fragments: ['{}'] },
              { id: 'c2', name: 'hang', fragments: ['{}'] },
            ],
          },
        },
      ];
      const { taskId, conversationId } = await h.start('begin');
      const controller = new AbortController();
      const running = h.run(taskId, { signal: controller.signal, isDraining: () => false });
      await expect
        .poll(async () => (await h.events(taskId)).filter((event) => event.type === 'tool.called').length)
        .toBe(1);
      await cancelRun(h.runs, { userId: h.userId, taskId, by: 'web' });
      controller.abort(new Error('seized'));
      await running.catch(() => undefined);
      replies = [say('Going on.')];
      const next = await h.say(conversationId, 'go on');
      expect(await h.run(next.taskId)).toEqual({ kind: 'completed' });
      expect((await h.task(next.taskId)).result).toBe('Going on.');
      expect(provider.refusals).toEqual([]);
    });

    it('repairs a history that lost a result', async () => {
      replies = [call('d1', 'fox'), say('First.'), say('Second.')];
      const { taskId, conversationId } = await h.start('begin');
      await h.run(taskId);
      await h.database.pool.query(
        "delete from vitto_task_events where task_id = $1 and type = 'tool.called'",
        [taskId],
      );
      const next = await h.say(conversationId, 'and now?');
      expect(await h.run(next.taskId)).toEqual({ kind: 'completed' });
      expect(provider.refusals).toEqual([]);
    });

    it('sends no half character, whatever a tool or a person gives', async () => {
      replies = [call('e1', 'fox'), say('One emo', 'ji: 🦊.')];
      const { taskId } = await h.start('half a fox: \ud83e and NUL: \0 and the literal \\u0000');
      expect(await h.run(taskId)).toEqual({ kind: 'completed' });
      expect(provider.refusals).toEqual([]);
      expect((await h.task(taskId)).result).toBe('One emoji: 🦊.');
      const stored = JSON.stringify(await h.events(taskId));
      expect(stored).toContain('NUL: ␀');
      expect(stored).toContain('the literal \\\\u0000');
    });

    it('takes the calls of many providers for no arguments at all', async () => {
      replies = [
        { answer: { calls: [{ id: 'f1', name: 'fox', fragments: dialect === 'google' ? ['{}'] : [''] }] } },
        say('ok'),
      ];
      const { taskId } = await h.start('no arguments');
      expect(await h.run(taskId)).toEqual({ kind: 'completed' });
      expect((await h.events(taskId)).find((event) => event.type === 'tool.called')?.payload['status']).toBe(
        'ok',
      );
    });
  },
);
