import type { EventEnvelope } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { EventMaker, idOf } from '../../../testing/event-maker.ts';
import { describeActivity, findActiveTask } from './active-task.ts';
import { EMPTY_LOG, foldConversation } from './fold-conversation.ts';
import type { Item } from './view.ts';

const TASK = idOf(1);
const CHILD = idOf(2);
const APPROVAL = idOf(7);

function fold(events: EventEnvelope[]) {
  return foldConversation(EMPTY_LOG, events).view;
}
function only<K extends Item['kind']>(events: EventEnvelope[], kind: K): Extract<Item, { kind: K }> {
  const found = fold(events).items.filter((item) => item.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as Extract<Item, { kind: K }>;
}

/** One of everything, as a real run would write it. */
function wholeStory(): EventEnvelope[] {
  const make = new EventMaker();
  return [
    make.created(TASK),
    make.said(TASK, 'clean the build'),
    make.started(TASK),
    make.text(TASK, 1, 'I loo'),
    make.text(TASK, 1, 'k'),
    make.make(TASK, 'model.retry', {
      turn: 1,
      attempt: 1,
      model: 'm',
      reason: 'cut',
      delayMs: 500,
      message: 'the stream ended',
    }),
    make.text(TASK, 1, 'I look first.', 2),
    make.turn(TASK, 1, 'I look first.', {
      calls: [{ id: 'c1', tool: 'run_command', input: { command: 'ls' } }],
    }),
    make.starting(TASK, 'c1', 'run_command', { command: 'ls' }),
    make.progress(TASK, 'c1', 'a\n'),
    make.called(TASK, 'c1', 'run_command', { text: 'a\nb' }),
    make.turn(TASK, 2, '', { calls: [{ id: 'c2', tool: 'run_command', input: { command: 'rm -r b' } }] }),
    make.asked(TASK, 'c2', APPROVAL, { command: 'rm -r b' }),
    make.make(TASK, 'task.parked', {
      state: 'waiting_approval',
      waitingFor: { kind: 'approval', approvalIds: [APPROVAL] },
    }),
    make.make(TASK, 'approval.decided', {
      approvalId: APPROVAL,
      callId: 'c2',
      decision: 'approved',
      by: 'web',
    }),
    make.make(TASK, 'task.resumed', { worker: 'w', fence: 2, reason: 'approval' }),
    make.starting(TASK, 'c2', 'run_command', { command: 'rm -r b' }),
    make.called(TASK, 'c2', 'run_command'),
    make.make(TASK, 'vm.degraded', { reason: 'no KVM here', fallbackTier: 'process-sandbox' }),
    make.raw(TASK, 'moon.rose', { phase: 'full' }),
    make.turn(TASK, 3, 'It is clean.'),
    make.completed(TASK, 'It is clean.'),
  ];
}

describe('folding a conversation', () => {
  it('gives the same view whatever the order, the pieces and the repeats in which the events come', () => {
    const events = wholeStory();
    const expected = fold(events);
    // A small generator of its own, so that a failure can be seen again.
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 200; round += 1) {
      let log = EMPTY_LOG;
      const rest = [...events, ...events.filter(() => random(3) === 0)].sort(() => random(3) - 1);
      while (rest.length > 0) log = foldConversation(log, rest.splice(0, 1 + random(6)));
      expect(log.view.items).toEqual(expected.items);
      expect([...log.view.tasks]).toEqual([...expected.tasks]);
    }
  });

  it('changes nothing, not even the identity of the view, when only known events come again', () => {
    const log = foldConversation(EMPTY_LOG, wholeStory());
    expect(foldConversation(log, wholeStory().slice(3, 9))).toBe(log);
  });

  it('keeps the identity of every item that a new event does not touch', () => {
    const events = wholeStory();
    const before = foldConversation(EMPTY_LOG, events.slice(0, -2));
    const after = foldConversation(before, events);
    for (const [at, item] of before.view.items.entries()) expect(after.view.items[at]).toBe(item);
  });

  it('joins an emoji that two deltas share', () => {
    const make = new EventMaker();
    const answer = only([make.text(TASK, 1, 'a fox \ud83e'), make.text(TASK, 1, '\udd8a')], 'answer');
    expect(answer.text).toBe('a fox 🦊');
    expect(answer.text.isWellFormed()).toBe(true);
  });

  it('puts the whole message in the place of its deltas', () => {
    const make = new EventMaker();
    const answer = only(
      [make.text(TASK, 1, 'Hel'), make.turn(TASK, 1, 'Hello.'), make.text(TASK, 1, 'lo')],
      'answer',
    );
    expect(answer).toMatchObject({ state: 'done', text: 'Hello.' });
  });

  it('sets a failed attempt aside, visibly, and takes no late delta of it', () => {
    const make = new EventMaker();
    const answer = only(
      [
        make.text(TASK, 1, 'half an ans'),
        make.make(TASK, 'model.retry', {
          turn: 1,
          attempt: 1,
          model: 'm',
          reason: 'overloaded',
          status: 529,
          delayMs: 2000,
          message: 'overloaded',
        }),
        make.text(TASK, 1, 'late', 1),
        make.text(TASK, 1, 'whole', 2),
      ],
      'answer',
    );
    expect(answer).toMatchObject({ text: 'whole', attempt: 2, state: 'streaming' });
    expect(answer.discarded).toEqual([
      { attempt: 1, text: 'half an ans', reason: 'overloaded', message: 'overloaded', delayMs: 2000 },
    ]);
  });

  it('sets aside the turn that a crash cut off, and lets it be written anew', () => {
    const make = new EventMaker();
    const answer = only(
      [
        make.created(TASK),
        make.started(TASK),
        make.text(TASK, 1, 'before the crash'),
        make.make(TASK, 'task.resumed', { worker: 'w2', fence: 2, reason: 'recovered', discardedTurn: 1 }),
        make.text(TASK, 1, 'after it'),
      ],
      'answer',
    );
    expect(answer.text).toBe('after it');
    expect(answer.discarded).toMatchObject([{ text: 'before the crash', reason: 'restart' }]);
  });

  it('shows a call from the turn on, through asking and running, to its result', () => {
    const make = new EventMaker();
    const events = [
      make.created(TASK),
      make.turn(TASK, 1, '', { calls: [{ id: 'c', tool: 'run_command', input: { command: 'ls' } }] }),
    ];
    expect(only(events, 'tool')).toMatchObject({ state: 'waiting', arguments: { command: 'ls' } });
    events.push(make.asked(TASK, 'c', APPROVAL, { command: 'ls' }));
    expect(only(events, 'tool').state).toBe('asking');
    events.push(make.starting(TASK, 'c', 'run_command', { command: 'ls' }));
    events.push(make.progress(TASK, 'c', 'one\n'), make.progress(TASK, 'c', 'two\n'));
    expect(only(events, 'tool')).toMatchObject({ state: 'running', output: 'one\ntwo\n' });
    events.push(make.called(TASK, 'c', 'run_command', { status: 'error', text: 'exit 1' }));
    expect(only(events, 'tool')).toMatchObject({ state: 'error', text: 'exit 1', output: '' });
  });

  it('bounds live output and says that it was cut, at a line and never within an emoji', () => {
    const make = new EventMaker();
    const line = `${'🦊'.repeat(50)}\n`;
    const events = [make.starting(TASK, 'c', 'run_command', { command: 'yes' })];
    for (let at = 0; at < 40; at += 1) events.push(make.progress(TASK, 'c', line.repeat(100)));
    const { output, isOutputCut } = only(events, 'tool');
    expect(isOutputCut).toBe(true);
    expect(output.length).toBeLessThanOrEqual(128_000);
    expect(output.startsWith('🦊') && output.endsWith('🦊\n')).toBe(true);
  });

  it('notes who decided an approval, and closes it when the task ends first', () => {
    const make = new EventMaker();
    const asked = [make.created(TASK), make.asked(TASK, 'c', APPROVAL, { command: 'x' })];
    const decided = make.make(TASK, 'approval.decided', {
      approvalId: APPROVAL,
      callId: 'c',
      decision: 'refused',
      by: 'cli',
      note: 'not now',
    });
    expect(only([...asked, decided], 'approval').decision).toEqual({
      decision: 'refused',
      by: 'cli',
      note: 'not now',
    });
    const cancelled = make.make(TASK, 'task.cancelled', { by: 'web' });
    expect(only([...asked, cancelled], 'approval')).toMatchObject({ decision: null, isClosed: true });
  });

  it('asks a question until it is answered', () => {
    const make = new EventMaker();
    const events = [
      make.created(TASK),
      make.turn(TASK, 1, '', { calls: [{ id: 'q', tool: 'ask_user', input: { question: 'Which?' } }] }),
      make.make(TASK, 'task.parked', {
        state: 'waiting_input',
        waitingFor: { kind: 'input', callId: 'q', question: 'Which?', choices: ['a', 'b'] },
      }),
    ];
    expect(only(events, 'question')).toMatchObject({ state: 'open', choices: ['a', 'b'] });
    expect(findActiveTask(fold(events))?.state).toBe('waiting_input');
    events.push(make.said(TASK, 'b', { answers: 'q' }));
    expect(only(events, 'question').state).toBe('answered');
    expect(fold(events).items.some((item) => item.kind === 'tool')).toBe(false);
  });

  it('shows the final result unless the last answer has already said it', () => {
    const make = new EventMaker();
    const said = [make.created(TASK), make.turn(TASK, 1, 'All done.')];
    expect(only([...said, make.completed(TASK, 'All done.\n')], 'end').result).toBeNull();
    expect(only([...said, make.completed(TASK, 'A report.')], 'end').result).toBe('A report.');
  });

  it('never makes an unknown cost a 0, and adds what sub-tasks spent', () => {
    const make = new EventMaker();
    const events = [
      make.created(TASK),
      make.started(TASK),
      make.turn(TASK, 1, 'a', { costUsd: 0.02 }),
      make.created(CHILD, { depth: 1, parentTaskId: TASK, kind: 'subvitto' }),
      make.turn(CHILD, 1, 'of the child', { costUsd: 0.03 }),
    ];
    const view = fold(events);
    expect(view.tasks.get(TASK)?.spending).toMatchObject({ tokens: 2400, iterations: 1 });
    expect(view.tasks.get(TASK)?.spending.costUsd).toBeCloseTo(0.05);
    expect(view.items.filter((item) => item.kind === 'answer')).toHaveLength(1);
    events.push(make.turn(CHILD, 2, 'x', { costUsd: null }), make.turn(TASK, 2, 'y', { costUsd: 0.01 }));
    expect(fold(events).tasks.get(TASK)?.spending.costUsd).toBeNull();
  });

  it('labels what a script or a recording has said', () => {
    const make = new EventMaker();
    const events = [make.created(TASK), make.turn(TASK, 1, 'hi', { model: 'script:demo.yaml' })];
    expect(only([...events, make.completed(TASK, 'hi')], 'end').isScripted).toBe(true);
  });

  it('shows what it does not know raw, and what does not fit its schema too', () => {
    const make = new EventMaker();
    const raw = only([make.raw(TASK, 'moon.rose', { phase: 'full' })], 'raw');
    expect(raw.event.payload).toEqual({ phase: 'full' });
    expect(only([make.raw(TASK, 'agent.text', { delta: 7 })], 'raw').event.type).toBe('agent.text');
  });

  it('says what a task does now', () => {
    const make = new EventMaker();
    const events = [make.created(TASK)];
    const activity = () => {
      const view = fold(events);
      const task = findActiveTask(view);
      return task === null ? null : describeActivity(view, task);
    };
    expect(activity()).toEqual({ kind: 'state', state: 'queued' });
    events.push(make.started(TASK));
    expect(activity()).toEqual({ kind: 'thinking' });
    events.push(make.text(TASK, 1, 'So'));
    expect(activity()).toEqual({ kind: 'writing' });
    events.push(make.turn(TASK, 1, 'So.', { calls: [{ id: 'c', tool: 'run_command', input: {} }] }));
    events.push(make.starting(TASK, 'c', 'run_command', { command: 'ls' }));
    expect(activity()).toMatchObject({ kind: 'tools', items: [{ callId: 'c' }] });
    events.push(make.completed(TASK, 'So.'));
    expect(activity()).toBeNull();
  });

  it('does not take a task for running of which only the end of its journal is here', () => {
    const make = new EventMaker();
    const late = [make.called(TASK, 'c', 'run_command'), make.raw(TASK, 'trust.something', {})];
    expect(findActiveTask(fold(late))).toBeNull();
    expect(findActiveTask(fold([make.text(TASK, 4, 'still at it')]))?.id).toBe(TASK);
  });

  it('folds 10,000 events within a second', () => {
    const make = new EventMaker();
    const events = [make.created(TASK), make.started(TASK)];
    for (let at = 0; at < 3333; at += 1) {
      events.push(
        make.turn(TASK, at + 1, 'step', {
          calls: [{ id: `c${at}`, tool: 'run_command', input: { command: 'ls' } }],
        }),
        make.starting(TASK, `c${at}`, 'run_command', { command: 'ls' }),
        make.called(TASK, `c${at}`, 'run_command'),
      );
    }
    const from = performance.now();
    expect(fold(events).items.length).toBe(6666);
    // Measured at about a tenth of this; the margin is for a busy machine.
    expect(performance.now() - from).toBeLessThan(3000);
  });
});

it('keeps one line for a VM that is waited for and comes, and says nothing of having the same one again', () => {
  const make = new EventMaker();
  const vm = { vmId: 'v', from: 'user-snapshot', acquireTimeMs: 900 } as const;
  const view = fold([
    make.created(TASK),
    make.make(TASK, 'vm.waiting', { place: 2, reason: '4 VMs run here.' }),
    make.make(TASK, 'vm.waiting', { place: 1, reason: '4 VMs run here.' }),
    make.make(TASK, 'vm.acquired', vm),
    make.make(TASK, 'vm.released', {}),
    make.make(TASK, 'vm.acquired', { ...vm, from: 'session' }),
  ]);
  const notices = view.items.flatMap((item) => (item.kind === 'notice' ? [item.event] : []));
  expect(notices.map(({ type, payload }) => [type, (payload as { from?: string }).from])).toEqual([
    ['vm.acquired', 'user-snapshot'],
  ]);
});

it('shows what an agent asks and that it was answered, and nothing of what it was told', () => {
  const make = new EventMaker();
  const events = [
    make.created(TASK),
    make.started(TASK),
    make.created(CHILD, { depth: 1, parentTaskId: TASK, kind: 'subvitto' }),
    make.said(CHILD, 'the whole task of the agent'),
    make.make(CHILD, 'task.parked', {
      state: 'waiting_input',
      waitingFor: { kind: 'input', callId: 'q1', question: 'Which?', choices: ['A'] },
    }),
  ];
  expect(only(events, 'question')).toMatchObject({ taskId: CHILD, isOfAgent: true, state: 'open' });
  expect(fold(events).items.some((item) => item.kind === 'user')).toBe(false);
  const answer = { messageId: idOf(8), text: 'A', source: 'web', answers: 'q1' };
  expect(only([...events, make.make(CHILD, 'user.message', answer)], 'question').state).toBe('answered');
});
