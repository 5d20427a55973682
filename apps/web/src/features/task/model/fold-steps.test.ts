import { describe, expect, it } from 'vitest';
import { en } from '../../../i18n/strings.en.ts';
import { EventMaker, idOf } from '../../../testing/event-maker.ts';
import { taskStrings } from '../strings.ts';
import { describeStep } from './describe-step.ts';
import { foldSteps } from './fold-steps.ts';
import { closeOpen, fitsStepFilter, NO_STEPS } from './step.ts';

const TASK = idOf(1);
const words = { task: taskStrings.en, shared: en };

function tellTask() {
  const make = new EventMaker();
  const command = { command: 'npm test' };
  return [
    make.created(TASK),
    make.said(TASK, 'Run the tests.'),
    make.started(TASK),
    make.make(TASK, 'agent.iteration', { iteration: 1, turn: 1, inputSeq: 2 }),
    make.make(TASK, 'model.retry', {
      turn: 1,
      attempt: 1,
      model: 'm',
      reason: 'overloaded',
      delayMs: 10,
      message: '529',
    }),
    make.turn(TASK, 1, 'I run them.', { calls: [{ id: 'c1', tool: 'run_command', input: command }] }),
    make.starting(TASK, 'c1', 'run_command', command),
    make.called(TASK, 'c1', 'run_command', { status: 'error' }),
    make.asked(TASK, 'c2', idOf(7), command),
    make.make(TASK, 'task.parked', {
      state: 'waiting_approval',
      waitingFor: { kind: 'approval', approvalIds: [idOf(7)] },
    }),
    make.make(TASK, 'approval.decided', {
      approvalId: idOf(7),
      callId: 'c2',
      decision: 'approved',
      by: 'web',
    }),
    make.make(TASK, 'task.queued', { reason: 'approval' }),
    make.make(TASK, 'task.resumed', { worker: 'w', fence: 2, reason: 'woken' }),
    make.raw(TASK, 'moon.rose', { phase: 'full' }),
    make.completed(TASK, 'Done.'),
  ];
}

describe('the steps of a task', () => {
  it('join what belongs together: a turn with its tries, a call with its result, a wait with its end', () => {
    const { steps } = foldSteps(NO_STEPS, tellTask());
    expect(steps.map((step) => [step.kind, step.events.length])).toEqual([
      ['state', 1],
      ['message', 1],
      ['state', 1],
      ['turn', 3],
      ['tool', 2],
      ['asking', 2],
      ['wait', 2],
      ['state', 1],
      ['raw', 1],
      ['end', 1],
    ]);
    const lines = steps.map((step) => describeStep(step, words));
    expect(lines[3]).toMatchObject({ title: 'Turn 1', object: 'I run them.', state: '2 tries' });
    expect(lines[4]).toMatchObject({ title: 'Run', object: 'npm test', state: 'failed', tone: 'red' });
    expect(lines[5]?.state).toBe('Approved by you');
    expect(lines[8]?.title).toBe('moon.rose');
    expect(steps.filter((step) => fitsStepFilter('trouble', step)).map((step) => step.kind)).toEqual([
      'turn',
      'tool',
    ]);
  });

  it('are the same however the journal comes in', () => {
    const events = tellTask();
    const whole = foldSteps(NO_STEPS, events);
    for (let cut = 0; cut <= events.length; cut += 1) {
      const parts = foldSteps(foldSteps(NO_STEPS, events.slice(0, cut)), events.slice(cut));
      expect(parts).toEqual(whole);
    }
  });

  it('begin anywhere: a result without its beginning began as long before as it took', () => {
    const [step] = foldSteps(NO_STEPS, tellTask().slice(7, 8)).steps;
    expect(step?.kind).toBe('tool');
    expect(Date.parse(step?.endedAt ?? '') - Date.parse(step?.startedAt ?? '')).toBe(1234);
  });

  it('do not go on after the task, nor in a part whose end is elsewhere', () => {
    const make = new EventMaker();
    const open = [make.created(TASK), make.starting(TASK, 'c', 'run_command', {})];
    const part = foldSteps(NO_STEPS, open);
    expect(part.steps.at(-1)?.endedAt).toBeNull();
    expect(closeOpen(part.steps).every((step) => step.endedAt !== null)).toBe(true);
    const over = foldSteps(part, [make.make(TASK, 'task.cancelled', { by: 'web' })]);
    expect(over.steps.every((step) => step.endedAt !== null)).toBe(true);
  });
});
