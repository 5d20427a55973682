import type { EventEnvelope } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { en } from '../../../i18n/strings.en.ts';
import { es } from '../../../i18n/strings.es.ts';
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

  it('end green only where the task says that it has succeeded', () => {
    const make = new EventMaker();
    const { steps } = foldSteps(NO_STEPS, [
      make.completed(TASK, 'All found.', { success: true }),
      make.completed(TASK, 'Not found.', { success: false }),
    ]);
    const lines = steps.map((step) => describeStep(step, words));
    expect(lines.map(({ tone, state }) => [tone, state])).toEqual([
      ['green', ''],
      ['amber', 'ended without success'],
    ]);
  });

  it('say who told a sub-Vitto something: the task that deployed it, or the user', () => {
    const make = new EventMaker();
    const { steps } = foldSteps(NO_STEPS, [
      make.said(TASK, 'Look for readers.', { source: 'deploy_agents' }),
      make.said(TASK, 'Only in src.'),
    ]);
    expect(steps.map((step) => describeStep(step, words).title)).toEqual(['Told by its task', 'You said']);
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

describe('a sub-Vitto in the timeline of its parent', () => {
  const [PARENT, CHILD] = [idOf(1), idOf(2)];
  const make = new EventMaker();
  const spawned = make.make(PARENT, 'subvitto.spawned', {
    id: CHILD,
    parentTaskId: PARENT,
    role: 'tester',
    tier: 'vm',
    depth: 1,
    description: 'Run the tests and report.',
    title: 'Run the tests',
    round: 1,
    index: 0,
    withheld: [{ tool: 'browse', reason: 'needs a browser' }],
  });
  const progress = (iteration: number, more: object) =>
    make.make(PARENT, 'subvitto.progress', { id: CHILD, iteration, currentTool: null, ...more });
  const tell = (...events: EventEnvelope[]) => {
    const { steps } = foldSteps(NO_STEPS, events);
    return steps.map((step) => {
      const { title, object, state, tone } = describeStep(step, words);
      return [title, object, state, tone, step.events.length, step.isTrouble];
    });
  };
  const begins = ['Agent, tester', 'Run the tests · 1 tool withheld'];

  it('is one step that says where it stands, however often that changes', () => {
    expect(tell(spawned)).toEqual([[...begins, 'going on', 'live', 1, false]]);
    const news = Array.from({ length: 500 }, (_, at) => progress(at + 1, { state: 'running' }));
    const now = progress(501, { currentTool: 'run_command', detail: 'npm test' });
    expect(tell(spawned, ...news, now)).toEqual([
      [...begins, `${en.tool.verbs['run_command']} npm test`, 'live', 2, false],
    ]);
    expect(tell(spawned, progress(1, { state: 'queued' }))).toEqual([
      [...begins, 'waits in line', 'quiet', 2, false],
    ]);
    expect(tell(spawned, progress(1, { state: 'waiting_approval' }))[0]?.slice(2, 4)).toEqual([
      'asks you',
      'amber',
    ]);
  });

  it('ends as it ended: what was stopped by a person is no trouble', () => {
    const completed = (success: boolean) =>
      make.make(PARENT, 'subvitto.completed', {
        id: CHILD,
        success,
        duration: 5_000,
        toolsUsed: ['run_command'],
        cost: 0.01,
        result: 'All pass.',
      });
    const failed = (status: 'failed' | 'cancelled' | 'timeout') =>
      make.make(PARENT, 'subvitto.failed', { id: CHILD, error: 'no more', iteration: 3, status });
    expect(tell(spawned, completed(true))[0]?.slice(2)).toEqual(['done', 'green', 2, false]);
    expect(tell(spawned, completed(false))[0]?.slice(2)).toEqual(['ended without success', 'amber', 2, true]);
    expect(tell(spawned, failed('timeout'))[0]?.slice(2)).toEqual(['ran out of time', 'red', 2, true]);
    expect(tell(spawned, failed('cancelled'))[0]?.slice(2)).toEqual(['stopped', 'quiet', 2, false]);
    const [alone] = foldSteps(NO_STEPS, [completed(true)]).steps;
    expect(Date.parse(alone?.endedAt ?? '') - Date.parse(alone?.startedAt ?? '')).toBe(5_000);
  });

  it('is announced by its round, in both languages', () => {
    const round = make.make(PARENT, 'orchestrator.round', {
      roundNumber: 2,
      maxRounds: 3,
      subTaskIds: [CHILD, idOf(3)],
      synthesis: 'Compare both.',
    });
    expect(tell(round)[0]?.slice(0, 2)).toEqual([
      'Sent agents',
      'round 2 of at most 3, 2 agents: Compare both.',
    ]);
    const [step] = foldSteps(NO_STEPS, [spawned]).steps;
    const line = step && describeStep(step, { task: taskStrings.es, shared: es });
    expect(line?.title).toBe('Agente, pruebas');
  });
});
