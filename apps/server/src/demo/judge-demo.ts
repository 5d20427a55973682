import { readKnownEvent, type EventEnvelope } from '@vitto/contracts';
import { readTestRun, type TestRun } from './test-run.ts';

/** What the journal says about a demo. The model's own words do not count. */
export interface Verdict {
  before: TestRun | null;
  after: TestRun | null;
  /** Why this was not red before and green after; empty when it was. */
  problems: string[];
}

/** Judges a demo by its journal: the last run of the tests before the first change, and the last one of all. */
export function judgeDemo(events: EventEnvelope[]): Verdict {
  const { runs, firstChange, problems } = readTestRuns(events);
  const before = runs.findLast((run) => firstChange === null || run.seq < firstChange) ?? null;
  const after = firstChange === null ? null : (runs.findLast((run) => run.seq > firstChange) ?? null);

  if (before === null) problems.push('the tests were not run before a change');
  else if (before.exitCode === null) problems.push('the first run of the tests did not end by itself');
  else if (before.exitCode === 0) problems.push('the tests were green before a change');
  else if ((before.failed ?? 0) === 0) problems.push('the first run ended without naming a failed test');
  if (firstChange === null) problems.push('nothing was changed');
  else if (after === null) problems.push('the tests were not run after the change');
  else if (after.exitCode !== 0) problems.push('the tests are still red after the change');
  else if (after.failed !== 0 || after.passed !== total(before))
    problems.push('after the change not as many tests pass as there were before');
  return { before, after, problems };
}

/** The runs of the tests in a task's journal, its first change and what went wrong with it. */
export function readTestRuns(events: EventEnvelope[]) {
  const commands = new Map<string, string>();
  const runs: (TestRun & { seq: number })[] = [];
  const problems: string[] = [];
  let firstChange: number | null = null;
  for (const envelope of events) {
    const event = readKnownEvent(envelope);
    if (event === null) continue;
    switch (event.type) {
      case 'tool.starting': {
        const { callId, arguments: args } = event.payload;
        const { command } = (args ?? {}) as { command?: unknown };
        if (typeof command === 'string') commands.set(callId, command);
        break;
      }
      case 'tool.called': {
        const run = readTestRun(event.payload, commands.get(event.payload.callId) ?? '');
        if (run !== null) runs.push({ ...run, seq: event.seq });
        if (event.payload.tool === 'edit_file' && event.payload.status === 'ok') firstChange ??= event.seq;
        break;
      }
      case 'task.completed':
        if (!event.payload.success) problems.push('the task itself says that it did not succeed');
        else if (!event.payload.artifacts?.length) problems.push('the patch was not handed over');
        break;
      case 'task.failed':
        problems.push(`the task failed (${event.payload.error.code}): ${event.payload.error.message}`);
        break;
      case 'task.cancelled':
        problems.push('the task was cancelled');
        break;
      default:
    }
  }
  return { runs, firstChange, problems };
}

function total(run: TestRun | null): number {
  return (run?.passed ?? 0) + (run?.failed ?? 0);
}
