import { outcome as outcomeShape, type VerdictSource } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteConversation } from '../../engine/index.ts';
import { newId } from '../../kernel/ids.ts';
import { listOutcomes } from './outcome.store.ts';
import type { OutcomeFeedbackService } from './outcome-feedback-service.ts';
import {
  answeredBy,
  createOutcomeTestbed,
  ranCall,
  turnedDown,
  verdictOf,
} from './testing/outcome-testbed.ts';

let bed: Awaited<ReturnType<typeof createOutcomeTestbed>>;
let service: OutcomeFeedbackService;
beforeAll(async () => {
  bed = await createOutcomeTestbed();
  service = bed.createService();
  await service.start();
});
afterAll(() => bed.close());

const FAILED = { state: 'failed', error: { code: 'model.down', message: 'gone' } } as const;

describe('a report', () => {
  it('keeps what the task was, what it used and what it spent', async () => {
    const parentId = await bed.startTask();
    const events = [
      answeredBy('a/first', 1),
      ...ranCall('search_web', 'web_search'),
      ...ranCall('run_command', 'code_execution'),
      ...ranCall('search_web', 'web_search', 'error'),
      turnedDown('send_message', 'refused'),
      turnedDown('git_push', 'invalid'),
      answeredBy('b/second', 2),
    ];
    const taskId = await bed.endTask(undefined, { parent: { id: parentId, rootId: parentId }, events });
    const reported = await service.report(taskId);
    expect(outcomeShape.parse(reported)).toEqual({
      taskId,
      parentTaskId: parentId,
      rootTaskId: parentId,
      title: 'a task',
      source: 'subvitto',
      role: 'researcher',
      expert: null,
      tier: null,
      complexity: 'moderate',
      domain: 'code_execution',
      toolsUsed: ['search_web', 'run_command'],
      end: 'completed',
      success: true,
      verdictSource: 'self',
      model: 'a/first',
      iterations: 3,
      tokens: 1200,
      costUsd: 0.0025,
      durationMs: 4200,
      endedAt: expect.any(String),
    });
    const page = { taskId: null, parentTaskId: parentId, before: null, limit: 9 };
    expect(await listOutcomes(bed.database.pool, bed.userId, page)).toEqual([reported]);
    expect(await listOutcomes(bed.database.pool, bed.strangerId, page)).toEqual([]);
  });

  it.each([
    ['completed without success', { state: 'completed', result: '', success: false }, 'completed'],
    ['failed', FAILED, 'failed'],
    ['cancelled', { state: 'cancelled' }, 'cancelled'],
  ] as const)('of a task that %s is no success, by its own word', async (_, end, state) => {
    const events = [...ranCall('git_push', 'deployment', 'timeout'), ...ranCall('read_page', 'web_search')];
    const reported = await service.report(await bed.endTask(end, { events }));
    // What was tried and did not work is what the failure is of; what was used is what worked.
    const facts = { success: false, verdictSource: 'self', domain: 'deployment', toolsUsed: ['read_page'] };
    expect(reported).toMatchObject({ ...facts, end: state, model: null });
  });

  it('of a success is not of a domain in which nothing worked', async () => {
    const events = [...ranCall('send_message', 'messaging', 'error'), ...ranCall('recall', 'knowledge')];
    expect(await service.report(await bed.endTask(undefined, { events }))).toMatchObject({
      domain: 'knowledge',
    });
  });

  it('counts a call that the end caught in the middle as tried', async () => {
    const events = ranCall('run_command', 'code_execution', null);
    const reported = await service.report(await bed.endTask({ state: 'cancelled' }, { events }));
    expect(reported).toMatchObject({ domain: 'code_execution', toolsUsed: [] });
  });

  it('knows no cost where something ran without a price', async () => {
    const taskId = await bed.endTask();
    await bed.database.pool.query('update vitto_tasks set is_cost_known = false where id = $1', [taskId]);
    expect(await service.report(taskId)).toMatchObject({ costUsd: null });
  });

  it('twenty times at once counts once, and all get the same', async () => {
    const taskId = await bed.endTask();
    const reports = await Promise.all(Array.from({ length: 20 }, () => service.report(taskId)));
    expect(new Set(reports.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(await bed.countOutcomes(taskId)).toBe(1);
    // And later it changes nothing that was said since.
    await service.giveVerdict({ userId: bed.userId, taskId, success: false, source: 'user' });
    expect(await service.report(taskId)).toMatchObject({ success: false, verdictSource: 'user' });
  });

  it('is none of a task that has not ended, or that there is not', async () => {
    const taskId = await bed.startTask();
    expect(await service.report(taskId)).toBeNull();
    expect(await service.report(newId())).toBeNull();
    expect(await bed.countOutcomes(taskId)).toBe(0);
  });
});

describe('a verdict', () => {
  const give = (taskId: string, source: VerdictSource, success: boolean) =>
    service.giveVerdict({ userId: bed.userId, taskId, success, source });

  it("is the user's over a check's over the task's own, and a weaker one changes nothing", async () => {
    const taskId = await bed.endTask();
    await service.report(taskId);
    expect(verdictOf(await give(taskId, 'check', false))).toEqual({ success: false, verdictSource: 'check' });
    expect(verdictOf(await give(taskId, 'self', true))).toEqual({ success: false, verdictSource: 'check' });
    expect(verdictOf(await give(taskId, 'user', true))).toEqual({ success: true, verdictSource: 'user' });
    expect(verdictOf(await give(taskId, 'check', false))).toEqual({ success: true, verdictSource: 'user' });
    expect(verdictOf(await give(taskId, 'user', false))).toEqual({ success: false, verdictSource: 'user' });
  });

  it('of twenty at once is the strongest', async () => {
    const taskId = await bed.endTask();
    const words = Array.from({ length: 20 }, (_, index) =>
      give(taskId, index === 7 ? 'user' : 'check', index !== 7 && index % 2 === 0),
    );
    await Promise.all(words);
    expect(verdictOf(await give(taskId, 'self', true))).toEqual({ success: false, verdictSource: 'user' });
    expect(await bed.countOutcomes(taskId)).toBe(1);
  });

  it('may come before the report of the task, which then changes nothing', async () => {
    const taskId = await bed.endTask();
    expect(verdictOf(await give(taskId, 'user', false))).toEqual({ success: false, verdictSource: 'user' });
    expect(await service.report(taskId)).toMatchObject({ success: false, verdictSource: 'user' });
  });

  it('may say that a task that failed did what was wanted', async () => {
    const taskId = await bed.endTask(FAILED);
    expect(await give(taskId, 'user', true)).toMatchObject({ success: true, end: 'failed' });
  });

  it("is refused of another user's task, of none, and of one that has not ended", async () => {
    const reported = await bed.endTask();
    await service.report(reported);
    const unreported = await bed.endTask();
    for (const taskId of [reported, unreported, newId()]) {
      const word = { userId: bed.strangerId, taskId, success: false, source: 'user' as const };
      await expect(service.giveVerdict(word)).rejects.toMatchObject({
        code: 'outcome.not-found',
        status: 404,
      });
    }
    expect(await service.report(reported)).toMatchObject({ success: true, verdictSource: 'self' });
    const open = await bed.startTask();
    await expect(give(open, 'user', true)).rejects.toMatchObject({ code: 'task.not-ended', status: 409 });
  });
});

describe('an outcome', () => {
  it('outlives its conversation without its words, also one of a task below, and still takes a verdict', async () => {
    const conversationId = await bed.createConversation();
    const other = await bed.endTask(undefined, { conversationId: await bed.createConversation() });
    await service.report(other);
    const taskId = await bed.endTask(undefined, { conversationId });
    await service.report(taskId);
    const child = await bed.endTask(undefined, { parent: { id: taskId, rootId: taskId } });
    await service.detachConversation(conversationId);
    const page = { taskId: null, parentTaskId: null, before: null, limit: 200 };
    const kept = await listOutcomes(bed.database.pool, bed.userId, page);
    const titles = new Map(kept.map((one) => [one.taskId, one.title]));
    expect([taskId, child, other].map((id) => titles.get(id))).toEqual(['', '', 'a task']);
    await deleteConversation(bed.database.pool, bed.userId, conversationId);
    const word = { userId: bed.userId, taskId, success: false, source: 'user' as const };
    expect(verdictOf(await service.giveVerdict(word))).toEqual({ success: false, verdictSource: 'user' });
  });

  it('goes with its user', async () => {
    const userId = await bed.insertUser('Cleo');
    const taskId = await bed.endTask(undefined, { userId });
    await service.report(taskId);
    await bed.database.pool.query('delete from vitto_users where id = $1', [userId]);
    expect(await bed.countOutcomes(taskId)).toBe(0);
  });
});
