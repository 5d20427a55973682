import type { EventPayload } from '@vitto/contracts';

/** One run of the project's tests. */
export interface TestRun {
  /** From the result's data; `null` when it did not end by itself. */
  exitCode: number | null;
  /** As the test runner counts them; `null` when it did not get that far. */
  passed: number | null;
  failed: number | null;
}

/** The result of a command as a run of Node's test runner; `null` for everything else. */
export function readTestRun(
  called: Pick<EventPayload<'tool.called'>, 'tool' | 'text' | 'data'>,
  command: string,
): TestRun | null {
  if (called.tool !== 'run_command' || !/\bnode --test\b/.test(command)) return null;
  const { exitCode } = (called.data ?? {}) as { exitCode?: unknown };
  return {
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    passed: readCount(called.text, 'pass'),
    failed: readCount(called.text, 'fail'),
  };
}

function readCount(text: string, what: 'pass' | 'fail'): number | null {
  const found = new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(text);
  return found === null ? null : Number(found[1]);
}

/** `exit 1 · 94 passed, 4 failed` */
export function describeTestRun(run: TestRun): string {
  const exit = run.exitCode === null ? 'did not end by itself' : `exit ${run.exitCode}`;
  return run.passed === null ? exit : `${exit} · ${run.passed} passed, ${run.failed ?? 0} failed`;
}
