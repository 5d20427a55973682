import type { EventEnvelope, NewEvent } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { judgeDemo } from './judge-demo.ts';

const ID = '0198a000-0000-7000-8000-000000000000';
const patch = { id: ID, name: 'mended.patch', mediaType: 'text/x-diff', bytes: 10, sha256: 'x' };

function journal(...steps: { type: string; payload: object }[][]): EventEnvelope[] {
  return steps.flat().map((step, index) => ({
    ...(step as NewEvent),
    position: index + 1,
    seq: index + 1,
    taskId: ID,
    at: '2026-01-01T00:00:00Z',
  }));
}

let calls = 0;
function call(tool: string, args: object, status: string, text: string, data: object = {}) {
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
const end = (success = true, artifacts: object[] = [patch]) => [
  {
    type: 'task.completed',
    payload: {
      result: 'All is well, the tests are green!',
      success,
      artifacts,
      spending: { iterations: 1, tokens: 1, costUsd: 0, durationMs: 1 },
    },
  },
];

describe('the verdict on a demo', () => {
  it('is good when the tests failed before the change and all pass after it', () => {
    const verdict = judgeDemo(journal(tests(1, 94, 4), edit(), tests(0, 98, 0), end()));
    expect(verdict).toEqual({
      before: { exitCode: 1, passed: 94, failed: 4, seq: 2 },
      after: { exitCode: 0, passed: 98, failed: 0, seq: 6 },
      problems: [],
    });
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
    expect(judgeDemo(journal(...steps)).problems.join('; ')).toMatch(problem);
  });

  it('names why a task failed', () => {
    const failed = [
      { type: 'task.failed', payload: { error: { code: 'model.divergence', message: 'other output' } } },
    ];
    expect(judgeDemo(journal(tests(1, 94, 4), failed)).problems).toContainEqual(
      'the task failed (model.divergence): other output',
    );
  });

  it('does not take another command for the tests', () => {
    const other = call('run_command', { command: 'echo green' }, 'ok', 'ℹ pass 98\nℹ fail 0', {
      exitCode: 0,
    });
    expect(judgeDemo(journal(tests(1, 94, 4), edit(), other, end())).problems).toEqual([
      'the tests were not run after the change',
    ]);
  });
});
