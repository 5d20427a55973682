import type { Failure } from '@vitto/contracts';
import { runningMs, type Finish, type Run, type RunEnd } from './run-context.ts';

/** The ways a run ends. Each gives `null` when there is news to read first: then the loop goes on. */
export const endRun = {
  /** The model has given its final answer. */
  answer: (run: Run): Promise<RunEnd | null> => complete(run, { text: run.state.lastText, success: true }),
  /** `task_complete`: the task is over unless the user has written something meanwhile. */
  finish: async (run: Run, finish: Finish): Promise<RunEnd | null> => {
    for (;;) {
      const end = await complete(run, finish);
      if (end !== null || run.transcript.hasUnread) return end;
    }
  },
  park: async (run: Run, end: Extract<RunEnd, { kind: 'parked' }>): Promise<RunEnd | null> => {
    if (await run.journal.park(end.state, end.waitingFor)) return end;
    await run.journal.readNews();
    return null;
  },
  fail: async (run: Run, error: Failure): Promise<RunEnd> => {
    await run.journal.fail({ type: 'task.failed', payload: { error, spending: spending(run) } }, error);
    return { kind: 'failed', error };
  },
  giveBack: async (run: Run): Promise<RunEnd> => {
    await run.journal.giveBack('shutdown');
    return { kind: 'given-back' };
  },
};

async function complete(run: Run, finish: Finish): Promise<RunEnd | null> {
  const { text, success, artifacts } = finish;
  const isDone = await run.journal.complete({
    type: 'task.completed',
    payload: {
      result: text,
      success,
      ...(artifacts === undefined ? {} : { artifacts }),
      spending: spending(run),
    },
  });
  if (isDone) return { kind: 'completed' };
  await run.journal.readNews();
  return null;
}

function spending(run: Run) {
  return {
    iterations: run.state.iteration,
    tokens: run.spent.tokens,
    costUsd: run.isCostKnown ? run.spent.costNano / 1e9 : null,
    durationMs: Math.round(runningMs(run)),
  };
}
