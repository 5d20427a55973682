import type { Run } from './run-context.ts';

/** Evaluates the gate before the first iteration, and again when its context has expired. */
export async function enterGate(run: Run): Promise<void> {
  const now = run.deps.clock.now();
  if (run.gate !== null && Date.parse(run.gate.cachedUntil) > now) return;
  const { task } = run;
  const isFirst = run.gate === null;
  run.gate = await run.deps.evaluateGate({
    id: task.id,
    userId: task.userId,
    kind: task.kind,
    requestedTier: task.tier,
    complexity: task.complexity,
    estimatedDuration: task.estimatedDuration,
  });
  // A woken task is evaluated anew; the journal has it once a start and once a change.
  if (!isFirst && run.state.hasGate) return;
  run.journal.stage([
    {
      type: 'gate.evaluated',
      payload: {
        decision: run.gate.decision,
        reason: run.gate.reason,
        tier: run.gate.execution.tier,
        levels: run.gate.trust.levels,
        cachedUntil: run.gate.cachedUntil,
      },
    },
  ]);
}
