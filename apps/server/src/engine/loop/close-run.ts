import type { Failure } from '@vitto/contracts';
import {
  CLOSING_INPUT_TOKENS,
  CLOSING_OUTPUT_TOKENS,
  countTokens,
  toSettlement,
} from '../budget/plan-budget.ts';
import type { BudgetRefusal } from '../journal/journal.store.ts';
import { streamTurn } from '../models/stream-turn.ts';
import { cutMiddle } from '../../kernel/text/cut.ts';
import { summarise } from './compact.ts';
import { turnCompleted } from './take-turn.ts';
import type { Run } from './run-context.ts';

const NAMES = { iterations: 'steps', tokens: 'tokens', cost: 'money', duration: 'time' } as const;

/**
 * The budget is used up: journals it, gives the model one closing turn without tools to sum up (its price was
 * reserved with the first call), and gives the failure that the task ends with. Without a model that answers, the
 * summary is made by rule.
 */
export async function closeRun(run: Run, refusal: BudgetRefusal): Promise<Failure> {
  await run.journal.append([{ type: 'budget.exceeded', payload: { ...refusal } }]);
  const summary = await askForSummary(run, refusal);
  const whose = refusal.ofTaskId === run.task.id ? "the task's" : "the parent task's";
  return {
    code: `budget.${refusal.budget}-exceeded`,
    message: `The next step no longer fits ${whose} ${NAMES[refusal.budget]} (${formatAmount(refusal)} used).`,
    hint: 'Send a message to go on with a new budget, or raise the limit in the settings.',
    ...(summary === null ? {} : { summary }),
  };
}

async function askForSummary(run: Run, refusal: BudgetRefusal): Promise<string | null> {
  const { headroom } = run;
  // Without anything reserved for it the turn would overshoot the cap.
  if (headroom === null || headroom.tokens < 200 || run.deps.models.length === 0) return null;
  const share = headroom.tokens / (CLOSING_INPUT_TOKENS + CLOSING_OUTPUT_TOKENS);
  const plan = {
    inputTokens: Math.floor(CLOSING_INPUT_TOKENS * share),
    outputTokens: Math.floor(CLOSING_OUTPUT_TOKENS * share),
    costNano: headroom.costNano,
  };
  const system = 'You sum up unfinished work for the person who asked for it.';
  const ask = `Your ${NAMES[refusal.budget]} budget is used up; no tool can be used any more. Sum up for the user in at most 150 words: what was asked, what is done, what is left. Do not promise anything.`;
  // Two bytes a token is the upper bound that budgets reckon with.
  const room = Math.max(0, plan.inputTokens * 2 - system.length - ask.length - 600);
  const digest = cutToBytes(summarise(run.transcript.messages()), room);
  const turn = run.state.turn + 1;
  try {
    const completed = await streamTurn({
      models: run.deps.models.slice(0, 1),
      options: {
        prompt: [
          { role: 'system', content: system },
          { role: 'user', content: [{ type: 'text', text: `${digest}\n\n${ask}` }] },
        ],
        maxOutputTokens: plan.outputTokens,
      },
      hooks: SILENT,
      signal: AbortSignal.any([run.signal, AbortSignal.timeout(60_000)]),
      clock: run.deps.clock,
      limiter: run.deps.limiter,
    });
    const content = completed.content.filter((part) => part.type !== 'tool-call');
    const used = { tokens: countTokens(completed.usage), costUsd: completed.costUsd };
    run.spent.tokens += used.tokens;
    run.journal.stage([turnCompleted(turn, completed, content)], toSettlement(plan, used));
    return (
      content
        .map((part) => (part.type === 'text' ? part.text : ''))
        .join('')
        .trim() || null
    );
  } catch (error) {
    run.signal.throwIfAborted();
    run.deps.logger.warn({ err: error, taskId: run.task.id }, 'the closing turn gave no summary');
    return null;
  }
}

const SILENT = {
  beforeAttempt: () => Promise.resolve(),
  onText: () => Promise.resolve(),
  onReasoning: () => Promise.resolve(),
  onRetry: () => Promise.resolve(),
  onFallback: () => Promise.resolve(),
};

function cutToBytes(text: string, bytes: number): string {
  let max = Math.min(text.length, bytes);
  while (max > 0 && Buffer.byteLength(cutMiddle(text, max).text) > bytes) max = Math.floor(max * 0.8);
  return max === 0 ? '' : cutMiddle(text, max).text;
}

function formatAmount(refusal: BudgetRefusal): string {
  switch (refusal.budget) {
    case 'cost':
      return `$${refusal.spent.toFixed(4)} of $${refusal.limit}`;
    case 'duration':
      return `${Math.round(refusal.spent / 1000)} s of ${Math.round(refusal.limit / 1000)} s`;
    case 'iterations':
    case 'tokens':
      return `${refusal.spent} of ${refusal.limit}`;
  }
}
