import type { Failure } from '@vitto/contracts';
import type { Run, RunEnd } from './run-context.ts';
import type { Finish } from './task-journal.ts';

/** The ways a run ends. Each gives `null` when there is news to read first: then the loop goes on. */
export const endRun = {
  /** The model has given its final answer. */
  answer: (run: Run): Promise<RunEnd | null> => complete(run, { text: run.state.lastText, success: true }),
  /** `task_complete`: the task is over unless the user has written something meanwhile. */
  finish: async (run: Run, finish: Finish): Promise<RunEnd | null> => {
    while (!run.transcript.hasUnread) {
      const end = await complete(run, finish);
      if (end !== null) return end;
    }
    return null;
  },
  park: async (run: Run, end: Extract<RunEnd, { kind: 'parked' }>): Promise<RunEnd | null> => {
    stageRelease(run);
    if (await run.journal.park(end.state, end.waitingFor, run.state.openSubVittos.size > 0)) return end;
    return goOn(run);
  },
  fail: async (run: Run, error: Failure): Promise<RunEnd> => {
    // Nobody would read what they find.
    if (run.state.openSubVittos.size > 0) await run.deps.stopSubVittos([...run.state.openSubVittos]);
    stageRelease(run);
    await run.journal.fail(error);
    return { kind: 'failed', error };
  },
  giveBack: async (run: Run): Promise<RunEnd> => {
    stageRelease(run);
    await run.journal.giveBack('shutdown');
    return { kind: 'given-back' };
  },
};

async function complete(run: Run, finish: Finish): Promise<RunEnd | null> {
  stageRelease(run);
  if (await run.journal.complete(finish)) return { kind: 'completed' };
  return goOn(run);
}

/** The VM is let go right after the write that ends the run: so that stands in it, and is done also when the run goes on. */
function stageRelease(run: Run): void {
  if (!run.state.isVmHeld) return;
  const vmId = run.state.vm?.vmId;
  run.journal.stage([{ type: 'vm.released', payload: vmId === undefined ? {} : { vmId } }]);
}

async function goOn(run: Run): Promise<null> {
  if (run.guest !== null && !run.state.isVmHeld) {
    const hold = await run.guest;
    if (hold.kind !== 'held' || hold.vm !== null) run.guest = null;
    await run.deps.restGuest();
  }
  await run.journal.readNews();
  return null;
}
