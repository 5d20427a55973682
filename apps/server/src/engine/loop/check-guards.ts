import type { Failure } from '@vitto/contracts';
import { BudgetRefused, throwIfOutOfTime } from './take-turn.ts';
import { findStuck } from './stuck.ts';
import { runningMs, type Run } from './run-context.ts';
import { UNREAD_RESULTS } from './run-state.ts';

/** From this share of a budget on the model is told, once a budget. */
const WARN_AT = 0.8;

/**
 * Checks the guards before a turn.
 * @throws BudgetRefused when the iterations or the time are used up.
 * @returns the failure of a task that is stuck for the second time, else the notes for the next turn.
 */
export async function checkGuards(
  run: Run,
): Promise<{ failure: Failure } | { notes: string[]; warned: string[] }> {
  const { state, task } = run;
  if (state.iteration >= task.maxIterations) {
    throw new BudgetRefused({
      budget: 'iterations',
      limit: task.maxIterations,
      spent: state.iteration,
      ofTaskId: task.id,
    });
  }
  throwIfOutOfTime(run);
  if (state.lastFinish === 'content-filter' && !run.transcript.hasUnread) {
    return {
      failure: {
        code: 'model.refused',
        message: 'The model broke off: its provider does not allow this answer.',
        hint: 'Put the request differently, or choose another model.',
      },
    };
  }
  const notes: string[] = [];
  const stuck = findStuck(state.recentCalls, state.idleTurns);
  if (stuck !== null) {
    const isSecond = state.nudges > 0;
    await run.journal.append([
      { type: 'task.stuck', payload: { ...stuck, action: isSecond ? 'failed' : 'nudged' } },
    ]);
    if (isSecond) {
      return {
        failure: {
          code: 'task.stuck',
          message: `Stuck: ${stuck.note}`,
          hint: 'Say what it should try instead, or what it is missing.',
          tried: stuck.tried,
        },
      };
    }
    notes.push(stuck.note);
  }
  if (state.hasUnreadResults) {
    notes.push(UNREAD_RESULTS);
  }
  if (state.mustClose) {
    notes.push('Your work is checked when you report it: end the task with task_complete.');
  }
  if (state.lastFinish === 'length' && !state.isAnswered) {
    notes.push('Your last turn was cut at the limit of its length. Go on where it ended, in smaller parts.');
  }
  const warned = warnings(run);
  notes.push(...warned.map(({ note }) => note));
  return { notes, warned: warned.map(({ budget }) => budget) };
}

function warnings(run: Run): { budget: string; note: string }[] {
  const { task, spent, state } = run;
  const shares = [
    { budget: 'iterations', name: 'steps', spent: state.iteration, limit: task.maxIterations },
    { budget: 'tokens', name: 'tokens', spent: spent.tokens, limit: task.maxTokens },
    { budget: 'cost', name: 'money', spent: spent.costNano, limit: task.maxCostNano },
    { budget: 'duration', name: 'time', spent: runningMs(run), limit: task.maxDurationMs },
  ];
  return shares
    .filter(
      ({ budget, spent: used, limit }) =>
        limit !== null && used >= limit * WARN_AT && !state.warned.has(budget),
    )
    .map(({ budget, name, spent: used, limit }) => ({
      budget,
      note: `You have used ${Math.round((used / (limit ?? 1)) * 100)} % of this task's ${name}. Come to an end: finish what matters most and sum up.`,
    }));
}
