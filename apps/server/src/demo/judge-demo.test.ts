import type { EventEnvelope, NewEvent } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { judgeDemo } from './judge-demo.ts';
import { describeSubVitto, nameSubVitto } from './sub-vitto-facts.ts';

const ID = '0198a000-0000-7000-8000-000000000000';
const patch = { id: ID, name: 'mended.patch', mediaType: 'text/x-diff', bytes: 10, sha256: 'x' };

type Step = { type: string; payload: object; of?: string };

/** The journals together: each step is of the demo's own task, unless it says of which. */
function journal(...steps: Step[][]): EventEnvelope[] {
  return steps.flat().map(({ of = ID, ...step }, index) => ({
    ...(step as NewEvent),
    position: index + 1,
    seq: index + 1,
    taskId: of,
    at: '2026-01-01T00:00:00Z',
  }));
}
const judge = (...steps: Step[][]) => judgeDemo(journal(...steps), ID);

let calls = 0;
function call(tool: string, args: object, status: string, text: string, data: object = {}): Step[] {
  const common = { callId: `call_${(calls += 1)}`, turn: 1, tool, tier: 'vm' };
  const decision = { verdict: 'act', reason: '' };
  const starting = {
    ...common,
    arguments: args,
    idempotency: 'once',
    risk: 'write',
    domain: 'code_execution',
    decision,
  };
  return [
    { type: 'tool.starting', payload: starting },
    { type: 'tool.called', payload: { ...common, status, text, data, durationMs: 1 } },
  ];
}
const tests = (exitCode: number | null, passed: number, failed: number) =>
  call(
    'run_command',
    { command: 'node --test --test-reporter=spec' },
    exitCode === 0 ? 'ok' : 'error',
    `Exit code ${exitCode} after 0.1 s.\n--- stdout ---\nℹ pass ${passed}\nℹ fail ${failed}\n`,
    { exitCode },
  );
const edit = (status = 'ok') => call('edit_file', { path: 'index.js' }, status, '');
const spending = { iterations: 1, tokens: 1, costUsd: 0, durationMs: 1 };
const end = (success = true, artifacts: object[] = [patch]): Step[] => [
  {
    type: 'task.completed',
    payload: { result: 'All is well, the tests are green!', success, artifacts, spending },
  },
];

const ROLES = ['tester', 'reviewer', 'coder', 'tester'];
const idOf = (number: number) => `0198a000-0000-7000-8000-00000000000${number}`;
/** What the sub-Vitto's own journal holds. */
const by = (number: number, ...steps: Step[][]): Step[] =>
  steps.flat().map((step) => ({ ...step, of: idOf(number) }));
const ranIn = (kind: string): Step[] =>
  call('read_file', {}, 'ok', '').map(({ type, payload }) => ({
    type,
    payload: { ...payload, ranOn: { kind } },
  }));
const ended = (number: number, success = true): Step[] => [
  {
    type: 'subvitto.completed',
    payload: { id: idOf(number), success, duration: 2_400, toolsUsed: [], cost: null, result: 'Done.' },
  },
];
const failed = (number: number): Step[] => [
  {
    type: 'subvitto.failed',
    payload: { id: idOf(number), error: 'no\nmore', iteration: 2, status: 'timeout', duration: 1_000 },
  },
];
const cancelled = { type: 'task.cancelled', payload: { by: 'engine' } };
const done = (number: number): Step[] => [...by(number, ranIn('vm'), end()), ...ended(number)];
function round(roundNumber: number, numbers: number[]): Step[] {
  const subTaskIds = numbers.map(idOf);
  return [
    { type: 'orchestrator.round', payload: { roundNumber, subTaskIds, synthesis: null } },
    ...subTaskIds.map((id, index) => ({
      type: 'subvitto.spawned',
      payload: {
        id,
        parentTaskId: ID,
        role: ROLES[(numbers[index] ?? 1) - 1] ?? null,
        tier: 'vm',
        depth: 1,
        description: '',
      },
    })),
  ];
}
const first = round(1, [1, 2, 3]);
const second = [...round(2, [4]), ...done(4)];
/** The rounds as they should be; the tests before the change are run by the first sub-Vitto. */
const rounds = [...first, ...by(1, tests(1, 94, 4)), ...done(1), ...done(2), ...done(3), ...second];

describe('the verdict on a demo', () => {
  it('is good when a sub-Vitto saw the tests fail before the change, and all pass after it', () => {
    const verdict = judge(rounds, edit(), tests(0, 98, 0), end());
    expect(verdict).toMatchObject({
      before: { exitCode: 1, passed: 94, failed: 4, taskId: idOf(1) },
      after: { exitCode: 0, passed: 98, failed: 0, taskId: ID },
      problems: [],
    });
    const lines = verdict.subVittos.map((one) => `${nameSubVitto(one)}: ${describeSubVitto(one)}`);
    expect(lines).toEqual([
      '1.1 tester: completed after 2.4 s, in the VM',
      '1.2 reviewer: completed after 2.4 s, in the VM',
      '1.3 coder: completed after 2.4 s, in the VM',
      '2.1 tester: completed after 2.4 s, in the VM',
    ]);
  });

  it.each([
    ['green before', [tests(0, 98, 0), edit(), tests(0, 98, 0), end()], /green before/],
    ['still red', [tests(1, 94, 4), edit(), tests(1, 94, 4), end()], /still red/],
    ['ended at a limit after the change', [tests(1, 94, 4), edit(), tests(null, 0, 0), end()], /still red/],
    [
      'ended at a limit before it',
      [tests(null, 0, 0), edit(), tests(0, 98, 0), end()],
      /did not end by itself/,
    ],
    [
      'failed without a test that failed',
      [tests(127, 0, 0), edit(), tests(0, 98, 0), end()],
      /without naming/,
    ],
    ['green for fewer tests', [tests(1, 94, 4), edit(), tests(0, 90, 0), end()], /not as many tests/],
    ['green before the change only', [tests(1, 94, 4), tests(0, 98, 0), edit(), end()], /not run after/],
    [
      'green after it to a sub-Vitto alone',
      [tests(1, 94, 4), edit(), by(1, tests(0, 98, 0)), end()],
      /not run after/,
    ],
    [
      'green without a change',
      [tests(1, 94, 4), edit('error'), tests(0, 98, 0), end()],
      /nothing was changed/,
    ],
    ['never run', [edit(), end()], /not run before/],
    ['without success', [tests(1, 94, 4), edit(), tests(0, 98, 0), end(false)], /did not succeed/],
    [
      'without a patch',
      [tests(1, 94, 4), edit(), tests(0, 98, 0), end(true, [])],
      /patch was not handed over/,
    ],
  ])('is bad for tests that are %s, whatever the report says', (_, steps, problem) => {
    expect(judge(...steps).problems.join('; ')).toMatch(problem);
  });

  const threeEnded = [...first, ...by(1, tests(1, 94, 4)), ...done(1), ...done(2)];
  it.each([
    ['were not deployed', tests(1, 94, 4), 'the journal has rounds of no sub-Vittos, not of 3 and 1'],
    [
      'had no second round',
      [...threeEnded, ...done(3)],
      'the journal has rounds of 3 sub-Vittos, not of 3 and 1',
    ],
    ['have no end', [...threeEnded, ...second], 'sub-Vitto 1.3 coder did not end exactly once'],
    [
      'ended twice',
      [...threeEnded, ...done(3), ...ended(3), ...second],
      'sub-Vitto 1.3 coder did not end exactly once',
    ],
    [
      'have an end that their own journal does not know',
      [...threeEnded, ...by(3, ranIn('vm')), ...ended(3), ...second],
      'sub-Vitto 1.3 coder did not end exactly once',
    ],
    [
      'ran out of time',
      [...threeEnded, ...by(3, ranIn('process-sandbox'), [cancelled]), ...failed(3), ...second],
      'sub-Vitto 1.3 coder timeout (no …) after 1.0 s, in the process sandbox',
    ],
    [
      'say that they did not succeed',
      [...threeEnded, ...by(3, ranIn('vm'), end(false)), ...ended(3, false), ...second],
      'sub-Vitto 1.3 coder completed without success after 2.4 s, in the VM',
    ],
    [
      'only talked',
      [...threeEnded, ...by(3, ranIn('in-process'), end()), ...ended(3), ...second],
      'sub-Vitto 1.3 coder ran nothing',
    ],
  ])('is bad for sub-Vittos that %s', (_, steps, problem) => {
    expect(judge(steps, edit(), tests(0, 98, 0), end()).problems).toEqual([problem]);
  });

  it('names why a task failed', () => {
    const error = { code: 'model.divergence', message: 'other output' };
    expect(judge(rounds, [{ type: 'task.failed', payload: { error } }]).problems).toContainEqual(
      'the task failed (model.divergence): other output',
    );
  });

  it('does not take another command for the tests', () => {
    const other = call('run_command', { command: 'echo green' }, 'ok', 'ℹ pass 98\nℹ fail 0', {
      exitCode: 0,
    });
    expect(judge(rounds, edit(), other, end()).problems).toEqual(['the tests were not run after the change']);
  });

  it('keeps the calls of two tasks apart that have the same name', () => {
    const [starting, called] = tests(1, 94, 4).map((step) => ({
      ...step,
      payload: { ...step.payload, callId: 'call_1_1' },
    })) as [Step, Step];
    const other = { ...starting, payload: { ...starting.payload, arguments: { command: 'ls' } } };
    const mixed = [...by(1, [starting]), other, ...by(1, [called])];
    expect(judge(mixed, edit()).before).toMatchObject({ exitCode: 1, taskId: idOf(1) });
  });
});
