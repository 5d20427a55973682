import type { Failure } from '@vitto/contracts';
import { ModelError } from '../models/model.ts';
import { checkGuards } from './check-guards.ts';
import { closeRun } from './close-run.ts';
import { compactContext, fullBytes, isContextFull } from './compact.ts';
import { endRun } from './end-run.ts';
import { enterGate } from './enter-gate.ts';
import { runCalls, type CallsOutcome } from './run-calls.ts';
import type { Run, RunEnd } from './run-context.ts';
import { BudgetRefused, notConfigured, takeTurn, type TurnRequest } from './take-turn.ts';

/**
 * The agent loop: one engine for root tasks, sub-Vittos, expert tests and proactive runs. Each round first brings open
 * calls to their results, then asks the model for the next turn. All it knows is folded from the journal, so a run
 * begins the same way for a new task, a woken one and one whose worker died.
 * @throws LostLease when another process owns the task now, the signal's reason when the run is aborted.
 */
export async function runLoop(run: Run): Promise<RunEnd> {
  const offered = run.deps.registry.describe(run.deps.toolNames);
  const fixedBytes = Buffer.byteLength(run.deps.systemPrompt) + Buffer.byteLength(JSON.stringify(offered));
  try {
    await enterGate(run);
    for (;;) {
      run.signal.throwIfAborted();
      if (run.journal.hasNews) await run.journal.readNews();
      if (run.isDraining()) return await endRun.giveBack(run);
      await noteTaint(run);

      if (run.state.openCalls.size > 0) {
        const outcome = await runCalls(run);
        const end = await endAfterCalls(run, outcome);
        if (end !== null) return end;
        continue;
      }
      if (run.state.isAnswered) {
        const end = await endAnswered(run);
        if (end !== null) return end;
        continue;
      }
      await enterGate(run);
      const guard = await checkGuards(run);
      if ('failure' in guard) return await endRun.fail(run, guard.failure);
      await takeTurnThatFits(run, { tools: offered, ...guard }, fixedBytes);
    }
  } catch (error) {
    const failure = await toFailure(run, error);
    return endRun.fail(run, failure);
  }
}

/** An answer ends the task, but not while sub-Vittos work for it: then it waits for them and goes on. */
function endAnswered(run: Run): Promise<RunEnd | null> {
  const open = [...run.state.openSubVittos];
  if (open.length === 0 && run.task.acceptanceCheck !== null) {
    // Only task_complete is checked: an answer is not taken for it.
    run.state.askToClose();
    return Promise.resolve(null);
  }
  if (open.length === 0) return endRun.answer(run);
  const waitingFor = { kind: 'children' as const, callId: '', childIds: open };
  return endRun.park(run, { kind: 'parked', state: 'waiting_children', waitingFor });
}

function endAfterCalls(run: Run, outcome: CallsOutcome): Promise<RunEnd | null> {
  switch (outcome.kind) {
    case 'finish':
      return endRun.finish(run, outcome.finish);
    case 'park':
      return endRun.park(run, outcome.end);
    case 'settled':
      return Promise.resolve(null);
  }
}

/** Takes a turn, with the oldest part of the conversation replaced when it would not fit the model's window. */
async function takeTurnThatFits(
  run: Run,
  request: Omit<TurnRequest, 'messages' | 'bytes'>,
  fixedBytes: number,
): Promise<void> {
  if (run.deps.models.length === 0) throw notConfigured();
  const measure = () => {
    const { bytes, unreadBytes } = run.transcript;
    return fixedBytes + bytes + unreadBytes + Buffer.byteLength(request.notes.join(''));
  };
  if (isContextFull(run, measure())) await compactContext(run);
  const room = fullBytes(run) - fixedBytes;
  const messages = () => run.attachments.show(run.transcript.messages(room));
  const take = () => takeTurn(run, { ...request, messages, bytes: Math.min(measure(), fullBytes(run)) });
  try {
    await take();
  } catch (error) {
    if (!(error instanceof ModelError) || !(await mayMend(run, error))) throw error;
    await take();
  }
}

/** Changes what the model refused, where that can be; then the turn is tried once more. */
async function mayMend(run: Run, error: ModelError): Promise<boolean> {
  // The provider counts differently: cut deeper.
  if (error.code === 'model.context-overflow') return compactContext(run, 0.2);
  if (error.code !== 'model.images-refused' || !run.attachments.showsImages(run.transcript.messages())) {
    return false;
  }
  run.attachments.takesImages = false;
  const model = run.deps.models[0]?.id ?? '';
  await run.journal.append([
    {
      type: 'model.fallback',
      payload: {
        turn: run.state.turn + 1,
        from: model,
        to: `${model} without pictures`,
        reason: error.message,
      },
    },
  ]);
  return true;
}

/** Who reads text from outside is tainted: what it is folded from says so, also after a restart. */
async function noteTaint(run: Run): Promise<void> {
  if (run.task.isTainted || !run.transcript.isTainted) return;
  run.task.isTainted = true;
  await run.journal.taint();
}

/** What a task fails with; anything that is not an expected end of a task is thrown on. */
async function toFailure(run: Run, error: unknown): Promise<Failure> {
  run.signal.throwIfAborted();
  if (error instanceof BudgetRefused) return closeRun(run, error.refusal);
  if (error instanceof ModelError) {
    const { code, message, hint } = error;
    return { code, message, ...(hint === undefined ? {} : { hint }) };
  }
  throw error;
}
