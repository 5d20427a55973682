import type { Costs, Task } from '@vitto/contracts';
import { idOf } from './event-maker.ts';
import { taskShape } from './fake-shapes.ts';
import type { FakeVitto } from './fake-vitto.ts';

/** A task that has deployed five, in two waves, one of which has deployed another; told from one moment on. */

export const ROOT = idOf(1);
export const CODER = idOf(11);
export const TESTER = idOf(12);
export const WRITER = idOf(13);
export const SECOND = idOf(14);
export const REVIEWER = idOf(15);
export const HELPER = idOf(21);

/** Long, and with what no page may read as markup. */
const TITLES: Record<string, string> = {
  [ROOT]: 'Make the import of invoices twice as fast and show that nothing else became slower',
  [CODER]: 'Rewrite the parser of <b>invoices</b> so that it reads its file once',
  [TESTER]: 'Run the whole suite with 10,000 invoices',
  [WRITER]: 'Escribe la guía de importación para أصحاب المتاجر',
  [SECOND]: 'Look for other readers of the file',
  [REVIEWER]: 'Review the change',
  [HELPER]: 'Find the slowest query',
};

export function agentTasks(now: number): Task[] {
  const at = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString();
  const child = (id: string, index: number, more: Partial<Task>): Task => ({
    ...(taskShape(id) as Task),
    kind: 'subvitto',
    conversationId: null,
    parentId: ROOT,
    rootId: ROOT,
    depth: 1,
    round: 1,
    index,
    title: TITLES[id] ?? '',
    tier: 'vm',
    createdAt: at(90),
    startedAt: at(90),
    ...more,
  });
  const spent = (tokens: number, costUsd: number | null) => ({
    iterations: 4,
    tokens,
    costUsd,
    durationMs: 30_000,
  });
  return [
    child(HELPER, 0, {
      parentId: CODER,
      depth: 2,
      tier: 'in-process',
      createdAt: at(40),
      startedAt: at(38),
      spending: spent(3_000, 0.02),
    }),
    child(REVIEWER, 4, {
      role: 'reviewer',
      tier: 'in-process',
      state: 'queued',
      startedAt: null,
      dependsOn: [CODER, TESTER],
      spending: spent(0, 0),
    }),
    child(SECOND, 3, {
      role: 'researcher',
      state: 'failed',
      startedAt: at(70),
      endedAt: at(30),
      spending: spent(9_000, 0.05),
      error: { code: 'model.refused', message: 'The model gave no answer three times.' },
    }),
    child(WRITER, 2, {
      role: 'writer',
      tier: 'in-process',
      state: 'completed',
      success: true,
      startedAt: at(88),
      endedAt: at(50),
      result: 'The guide is written.',
      spending: spent(12_000, 0.07),
    }),
    child(TESTER, 1, {
      role: 'tester',
      state: 'waiting_approval',
      waitingFor: { kind: 'approval', approvalIds: [idOf(70)] },
      startedAt: at(60),
      spending: spent(15_000, 0.09),
    }),
    child(CODER, 0, {
      role: 'coder',
      spending: spent(43_000, 0.32),
      spentBelow: { tokens: 3_000, costUsd: 0.02 },
    }),
    {
      ...(taskShape(ROOT) as Task),
      title: TITLES[ROOT] ?? '',
      state: 'waiting_children',
      waitingFor: { kind: 'children', callId: 'd1', childIds: [CODER, TESTER, WRITER, SECOND, REVIEWER] },
      spending: spent(97_000, 0.61),
      spentBelow: { tokens: 79_000, costUsd: 0.53 },
      createdAt: at(120),
      startedAt: at(119),
    },
  ];
}

/** The journal of the root as far as the tasks tell it, and what two of its agents do just now. */
export function tellAgents(fake: FakeVitto): void {
  const { make } = fake;
  const spawned = (
    id: string,
    index: number,
    role: string,
    withheld: { tool: string; reason: string }[] = [],
  ) =>
    make.make(ROOT, 'subvitto.spawned', {
      id,
      parentTaskId: ROOT,
      role,
      tier: 'vm',
      depth: 1,
      description: `${TITLES[id]}. Report what you found.`,
      title: TITLES[id],
      round: 1,
      index,
      withheld,
    });
  fake.emit(
    make.created(ROOT, { title: TITLES[ROOT] ?? '' }),
    make.started(ROOT),
    make.make(ROOT, 'orchestrator.round', {
      roundNumber: 1,
      maxRounds: 3,
      subTaskIds: [CODER, TESTER, WRITER, SECOND, REVIEWER],
      synthesis: 'Compare the timings and decide.',
      callId: 'd1',
    }),
    spawned(CODER, 0, 'coder'),
    spawned(TESTER, 1, 'tester', [{ tool: 'browse', reason: 'needs a browser' }]),
    spawned(WRITER, 2, 'writer'),
    spawned(SECOND, 3, 'researcher'),
    spawned(REVIEWER, 4, 'reviewer'),
    make.make(ROOT, 'task.parked', {
      state: 'waiting_children',
      waitingFor: { kind: 'children', callId: 'd1', childIds: [CODER, TESTER, WRITER, SECOND, REVIEWER] },
    }),
    make.make(ROOT, 'subvitto.vm_degraded', {
      id: SECOND,
      reason: 'no VM is free',
      fallbackTier: 'in-process',
    }),
    make.make(ROOT, 'subvitto.progress', {
      id: CODER,
      iteration: 3,
      currentTool: 'run_command',
      detail: 'npm run bench',
      state: 'running',
    }),
    make.make(ROOT, 'subvitto.progress', {
      id: TESTER,
      iteration: 2,
      currentTool: null,
      state: 'waiting_approval',
    }),
    make.make(ROOT, 'subvitto.completed', {
      id: WRITER,
      success: true,
      duration: 38_000,
      toolsUsed: ['write_file'],
      cost: 0.07,
      result: 'The guide is written.',
    }),
    make.make(ROOT, 'subvitto.failed', {
      id: SECOND,
      error: 'The model gave no answer three times.',
      iteration: 4,
      status: 'failed',
    }),
  );
}

export function agentCosts(now: string): Costs {
  const amount = {
    turns: 40,
    inputTokens: 300_000,
    cachedInputTokens: 90_000,
    outputTokens: 20_000,
    costUsd: 4.2,
    unpricedTurns: 0,
  };
  const task = {
    conversationId: null,
    kind: 'subvitto',
    parentTaskId: ROOT,
    rootTaskId: ROOT,
    createdAt: now,
  };
  return {
    from: now.slice(0, 10),
    to: now.slice(0, 10),
    timeZone: 'UTC',
    total: amount,
    days: [{ ...amount, day: now.slice(0, 10), model: 'anthropic/claude' }],
    models: [{ ...amount, model: 'anthropic/claude' }],
    tasks: [
      { ...task, taskId: CODER, title: TITLES[CODER] ?? '', role: 'coder', tokens: 40_000, costUsd: 0.3 },
      {
        ...task,
        taskId: ROOT,
        title: TITLES[ROOT] ?? '',
        role: null,
        kind: 'chat',
        parentTaskId: null,
        tokens: 18_000,
        costUsd: 0.08,
      },
      {
        ...task,
        taskId: HELPER,
        title: TITLES[HELPER] ?? '',
        role: null,
        parentTaskId: CODER,
        tokens: 3_000,
        costUsd: null,
      },
    ],
    subVittos: [
      { role: 'coder', runs: 12, succeeded: 9, failed: 2, tokens: 410_000, costUsd: 2.6 },
      { role: 'tester', runs: 7, succeeded: 7, failed: 0, tokens: 90_000, costUsd: 0.9 },
      { role: null, runs: 1, succeeded: 0, failed: 0, tokens: 3_000, costUsd: null },
    ],
    today: { costUsd: 1.2, reservedUsd: 0.1, limitUsd: 5 },
    forecast: null,
  };
}
