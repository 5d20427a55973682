import { readKnownEvent, type EventEnvelope } from '@vitto/contracts';
import { describeSubVitto, nameSubVitto, readSubVittos, type SubVittoFacts } from './sub-vitto-facts.ts';
import { readTestRun, type TestRun } from './test-run.ts';

/** Sub-Vittos of each round that the demo deploys. */
export const DEMO_ROUNDS: readonly number[] = [3, 1];

/** What the journals say about a demo. The model's own words do not count. */
export interface Verdict {
  before: TestRun | null;
  after: TestRun | null;
  subVittos: SubVittoFacts[];
  /** Why this was not red before and green after, by the rounds that the demo has; empty when it was. */
  problems: string[];
}

/**
 * Judges a demo by the journals of its task and the sub-Vittos: the last run of the tests before the first change,
 * whoever ran them, and the last one of all, by the task itself.
 */
export function judgeDemo(events: readonly EventEnvelope[], rootId: string): Verdict {
  const { runs, firstChange, problems } = readTestRuns(events, rootId);
  const before = runs.findLast((run) => firstChange === null || run.position < firstChange) ?? null;
  const isAfter = (run: { position: number; taskId: string }) =>
    firstChange !== null && run.position > firstChange && run.taskId === rootId;
  const after = runs.findLast(isAfter) ?? null;

  if (before === null) problems.push('the tests were not run before a change');
  else if (before.exitCode === null) problems.push('the first run of the tests did not end by itself');
  else if (before.exitCode === 0) problems.push('the tests were green before a change');
  else if ((before.failed ?? 0) === 0) problems.push('the first run ended without naming a failed test');
  if (firstChange === null) problems.push('nothing was changed');
  else if (after === null) problems.push('the tests were not run after the change');
  else if (after.exitCode !== 0) problems.push('the tests are still red after the change');
  else if (after.failed !== 0 || after.passed !== total(before))
    problems.push('after the change not as many tests pass as there were before');
  const subVittos = readSubVittos(events, rootId);
  return { before, after, subVittos, problems: [...problems, ...judgeRounds(subVittos)] };
}

function judgeRounds(subVittos: readonly SubVittoFacts[]): string[] {
  const sizes = [...Map.groupBy(subVittos, ({ round }) => round).values()].map((its) => its.length);
  const problems =
    sizes.join() === DEMO_ROUNDS.join()
      ? []
      : [
          `the journal has rounds of ${sizes.join(' and ') || 'no'} sub-Vittos, not of ${DEMO_ROUNDS.join(' and ')}`,
        ];
  for (const one of subVittos) {
    const { end, endCount, ownEnds, places } = one;
    const name = `sub-Vitto ${nameSubVitto(one)}`;
    const isDone =
      end?.type === 'subvitto.completed' && end.payload.success && ownEnds[0] === 'task.completed';
    if (endCount !== 1 || ownEnds.length !== 1) problems.push(`${name} did not end exactly once`);
    else if (!isDone) problems.push(`${name} ${describeSubVitto(one)}`);
    else if (places.length === 0) problems.push(`${name} ran nothing`);
  }
  return problems;
}

/** The runs of the tests in the journals, the first change, and what went wrong with the task itself. */
export function readTestRuns(events: readonly EventEnvelope[], rootId: string) {
  const commands = new Map<string, string>();
  const runs: (TestRun & { position: number; taskId: string })[] = [];
  const problems: string[] = [];
  let firstChange: number | null = null;
  for (const envelope of events) {
    const event = readKnownEvent(envelope);
    if (event === null) continue;
    const { position, taskId } = event;
    // Each task counts its calls from one.
    const nameCall = (callId: string) => `${taskId} ${callId}`;
    if (event.type === 'tool.starting') {
      const { callId, arguments: args } = event.payload;
      const { command } = (args ?? {}) as { command?: unknown };
      if (typeof command === 'string') commands.set(nameCall(callId), command);
    } else if (event.type === 'tool.called') {
      const run = readTestRun(event.payload, commands.get(nameCall(event.payload.callId)) ?? '');
      if (run !== null) runs.push({ ...run, position, taskId });
      if (event.payload.tool === 'edit_file' && event.payload.status === 'ok') firstChange ??= position;
    } else if (taskId === rootId) problems.push(...judgeEnd(event));
  }
  return { runs, firstChange, problems };
}

function judgeEnd(event: NonNullable<ReturnType<typeof readKnownEvent>>): string[] {
  switch (event.type) {
    case 'task.completed':
      if (!event.payload.success) return ['the task itself says that it did not succeed'];
      return event.payload.artifacts?.length ? [] : ['the patch was not handed over'];
    case 'task.failed':
      return [`the task failed (${event.payload.error.code}): ${event.payload.error.message}`];
    case 'task.cancelled':
      return ['the task was cancelled'];
    default:
      return [];
  }
}

function total(run: TestRun | null): number {
  return (run?.passed ?? 0) + (run?.failed ?? 0);
}
