import type { EventPayload } from '@vitto/contracts';
import { idOf } from './event-maker.ts';
import type { FakeVitto } from './fake-vitto.ts';

/** A round of sub-Vittos as the journal of their parent tells it: each function is one moment of it. */

export const PARENT = idOf(1);
export const CALL = 'deploy-1';
export const agentId = (at: number) => idOf(100 + at);

const TITLES = [
  'Rewrite the parser of <b>invoices</b> so that it reads its file once and not twice',
  'Run the whole suite with 10,000 invoices',
  'Escribe la guía de importación para أصحاب المتاجر',
  'Look for other readers of the file',
  'Review the change',
];
const ROLES = ['coder', 'tester', 'writer', 'researcher', 'reviewer'];

/** The call, and a round of so many; the last one of five waits for the first two. */
export function tellDeployed(fake: FakeVitto, count = 5): void {
  const { make } = fake;
  const ids = Array.from({ length: count }, (_, at) => agentId(at));
  const input = { tasks: ids.map((_, at) => ({ description: TITLES[at % 5] ?? '' })) };
  fake.title = 'A faster import';
  fake.emit(
    make.created(PARENT),
    make.said(PARENT, 'Make the import of invoices twice as fast.'),
    make.started(PARENT),
    make.turn(PARENT, 1, 'This falls into parts that do not need each other.', {
      calls: [{ id: CALL, tool: 'deploy_agents', input }],
    }),
    make.starting(PARENT, CALL, 'deploy_agents', input),
    make.make(PARENT, 'orchestrator.round', {
      roundNumber: 1,
      subTaskIds: ids,
      synthesis: 'One report with the numbers before and after, and what is left to do.',
      callId: CALL,
      maxRounds: 3,
    }),
    ...ids.map((id, at) => make.make(PARENT, 'subvitto.spawned', spawned(id, at, count))),
    make.make(PARENT, 'task.parked', {
      state: 'waiting_children',
      waitingFor: { kind: 'children', callId: CALL, childIds: ids },
    }),
  );
}

function spawned(id: string, at: number, count: number): EventPayload<'subvitto.spawned'> {
  return {
    id,
    parentTaskId: PARENT,
    role: count === 5 && at === 3 ? null : (ROLES[at % 5] ?? null),
    tier: at % 5 === 2 ? 'in-process' : 'vm',
    depth: 1,
    description: TITLES[at % 5] ?? '',
    title: count === 5 ? (TITLES[at] ?? '') : `${at + 1}. ${TITLES[at % 5]}`,
    round: 1,
    index: at,
    dependsOn: at === 4 ? [agentId(0), agentId(1)] : [],
    withheld:
      at === 2
        ? [
            { tool: 'git_push', reason: 'a writer has no tools that leave the sandbox' },
            { tool: 'deploy_agents', reason: 'nobody below deploys further' },
          ]
        : [],
  };
}

export function tellProgress(
  fake: FakeVitto,
  at: number,
  more: Partial<EventPayload<'subvitto.progress'>> = {},
): void {
  const progress = { id: agentId(at), iteration: 1, currentTool: null, ...more };
  fake.emit(fake.make.make(PARENT, 'subvitto.progress', progress));
}

/** One in each state that a running round knows. */
export function tellAtWork(fake: FakeVitto): void {
  const { make } = fake;
  fake.emit(
    make.make(PARENT, 'subvitto.vm_acquired', {
      id: agentId(0),
      vmId: 'vm-1',
      restored: true,
      acquireTimeMs: 180,
      from: 'base-snapshot',
    }),
    make.make(PARENT, 'subvitto.vm_degraded', {
      id: agentId(1),
      reason: 'All machines of this host are in use, and the policy lets commands run without one.',
      fallbackTier: 'process-sandbox',
    }),
  );
  // The first has begun a minute ago.
  const began = make.make(PARENT, 'subvitto.progress', { id: agentId(0), iteration: 1, currentTool: null });
  fake.emit({ ...began, at: new Date(Date.now() - 64_000).toISOString() });
  const command = 'npm test -- --reporter=dot --project unit packages/invoices/src/parser/read-once.test.ts';
  tellProgress(fake, 0, { iteration: 3, currentTool: 'run_command', detail: command });
  tellProgress(fake, 1, { iteration: 2 });
  tellProgress(fake, 2, { state: 'waiting_approval' });
}

export function tellDone(fake: FakeVitto, at: number, success = true): void {
  const result = `**Done.** What agent ${at + 1} found is in \`/home/user/work/report-${at + 1}.md\`.`;
  const end = { id: agentId(at), success, duration: 64_000, toolsUsed: [], cost: 0.02, result };
  fake.emit(fake.make.make(PARENT, 'subvitto.completed', end));
}

export function tellFailed(fake: FakeVitto, at: number, status: 'failed' | 'cancelled' | 'timeout'): void {
  const error = status === 'cancelled' ? 'It was stopped.' : 'The budget of tokens is used up: 100k of 100k.';
  const end = { id: agentId(at), error, iteration: 10, status, duration: 41_000 };
  fake.emit(fake.make.make(PARENT, 'subvitto.failed', end));
}

/** All have ended, each in another way, and the parent has the results. */
export function tellAllEnded(fake: FakeVitto): void {
  const { make } = fake;
  tellDone(fake, 0);
  tellDone(fake, 1, false);
  tellFailed(fake, 2, 'cancelled');
  tellFailed(fake, 3, 'failed');
  tellFailed(fake, 4, 'timeout');
  fake.emit(
    make.make(PARENT, 'task.queued', { reason: 'children' }),
    make.make(PARENT, 'task.resumed', { worker: 'w1', fence: 2, reason: 'children' }),
    make.called(PARENT, CALL, 'deploy_agents', {
      text: 'five results',
      untrusted: 'what sub-Vittos read',
      artifacts: [{ id: idOf(77), name: 'sub-vitto-results.md', mediaType: 'text/markdown', bytes: 48_200 }],
    }),
  );
}

export function tellReport(fake: FakeVitto): void {
  const report = 'The import reads each file once now: 41 s became 19 s.';
  fake.emit(fake.make.turn(PARENT, 2, report), fake.make.completed(PARENT, report));
}
