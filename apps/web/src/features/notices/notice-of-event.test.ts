import { describe, expect, it } from 'vitest';
import { EventMaker, idOf, SPENDING } from '../../testing/event-maker.ts';
import { noticeOf } from './notice-of-event.ts';

const make = new EventMaker();
const TASK = idOf(1);

describe('what a person is called for', () => {
  it('is an approval, which leads to the inbox', () => {
    const event = make.make(TASK, 'approval.requested', {
      approvalId: idOf(5),
      callId: 'c',
      tool: 'send_message',
      arguments: { text: 'a secret' },
      argumentsHash: 'h',
      reason: 'it cannot be undone',
      risk: 'irreversible',
      domain: 'messaging',
      expiresAt: new Date().toISOString(),
    });
    expect(noticeOf(event)).toEqual({
      kind: 'approval',
      body: 'send_message',
      path: '/vitto/inbox',
      tag: `task-${TASK}`,
    });
  });

  it('is a question, in one short line of whole characters', () => {
    const question = `Which\n\none ${'👩‍🚀'.repeat(200)}\ud800`;
    const event = make.make(TASK, 'task.parked', {
      state: 'waiting_input',
      waitingFor: { kind: 'input', callId: 'c', question },
    });
    const body = noticeOf(event)?.body ?? '';
    expect(body).toMatch(/^Which one 👩/);
    expect(body.length).toBeLessThanOrEqual(160);
    expect(body.isWellFormed()).toBe(true);
  });

  it('is how a task ended, whether well or not', () => {
    const end = (success: boolean) =>
      noticeOf(make.make(TASK, 'task.completed', { result: 'All green.', success, spending: SPENDING }));
    expect([end(true)?.kind, end(false)?.kind]).toEqual(['done', 'undone']);
    const failed = make.make(TASK, 'task.failed', { error: { code: 'x', message: 'No model.' } });
    expect(noticeOf(failed)).toMatchObject({ kind: 'failed', body: 'No model.' });
  });

  it('is not how a sub-Vitto ended: its parent reads that', () => {
    const parentTaskId = idOf(9);
    const completed = { result: 'done', success: true, spending: SPENDING, parentTaskId };
    expect(noticeOf(make.make(TASK, 'task.completed', completed))).toBeNull();
    const error = { code: 'x', message: 'y' };
    expect(noticeOf(make.make(TASK, 'task.failed', { error, parentTaskId }))).toBeNull();
  });

  it('is nothing of what happens on the way, nor what this version does not know', () => {
    const others = [
      make.make(TASK, 'agent.text', { turn: 1, attempt: 1, delta: 'x' }),
      make.make(TASK, 'task.parked', {
        state: 'waiting_approval',
        waitingFor: { kind: 'approval', approvalIds: [idOf(5)] },
      }),
      make.raw(TASK, 'something.new', {}),
      make.raw(TASK, 'approval.requested', { odd: true }),
    ];
    expect(others.map((event) => noticeOf(event))).toEqual([null, null, null, null]);
  });
});
