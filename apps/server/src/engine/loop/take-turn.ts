import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from '@ai-sdk/provider';
import type { NewEvent } from '@vitto/contracts';
import {
  countTokens,
  dayIn,
  estimateInputTokens,
  planCall,
  planHeadroom,
  shrinkPlan,
  toReservation,
  toSettlement,
  type CallPlan,
} from '../budget/plan-budget.ts';
import type { BudgetRefusal } from '../journal/journal.store.ts';
import {
  ModelError,
  type AssistantPart,
  type Model,
  type ModelTurn,
  type TurnHooks,
} from '../models/model.ts';
import { streamTurn } from '../models/stream-turn.ts';
import { DeltaWriter } from './delta-writer.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import { giveUniqueCallIds } from './unique-call-ids.ts';
import { runningMs, type Run } from './run-context.ts';

/** At most one text event in this time or of this size (specification 01). */
const TEXT_EVERY_MS = 50;
const TEXT_MAX_LENGTH = 2_048;

/** The budget does not allow the call: whose limit it is and what is left. */
export class BudgetRefused extends Error {
  readonly refusal: BudgetRefusal;
  constructor(refusal: BudgetRefusal) {
    super(`the ${refusal.budget} budget does not allow another call`);
    this.refusal = refusal;
  }
}

export interface TurnRequest {
  /** Read when the iteration is journaled, since its notes go with it. */
  messages: () => Promise<LanguageModelV4Message[]>;
  tools: LanguageModelV4FunctionTool[];
  /** Bytes of the request, for the estimate. */
  bytes: number;
  notes: string[];
  /** Budgets whose 80 % note is among the notes. */
  warned: string[];
}

/**
 * One turn of the model: reserves its price, journals the iteration, streams, and stages the completed turn for the
 * next write.
 * @throws BudgetRefused, ModelError, LostLease, or the signal's reason.
 */
export async function takeTurn(run: Run, request: TurnRequest): Promise<void> {
  const first = run.deps.models[0];
  if (first === undefined) throw notConfigured();
  const inputTokens = estimateInputTokens(request.bytes, run.state.measured);
  const turn = run.state.turn + 1;
  const plan = await reserveFirst(run, request, first, inputTokens, turn);

  const writers = openWriters(run, turn);
  const attempts = new AttemptLedger(run, first, plan);
  const deadline = deadlineOf(run);
  const completed = await streamTurn({
    models: run.deps.models,
    options: {
      prompt: [{ role: 'system', content: run.deps.systemPrompt }, ...(await request.messages())],
      ...(request.tools.length === 0 ? {} : { tools: request.tools }),
      maxOutputTokens: plan.outputTokens,
    },
    hooks: hooksOf(run, turn, writers, attempts),
    signal: deadline === null ? run.signal : AbortSignal.any([run.signal, deadline]),
    clock: run.deps.clock,
    limiter: run.deps.limiter,
  }).catch(async (error: unknown) => {
    if (!run.signal.aborted) attempts.failed(writers.readLength());
    await writers.discard();
    if (deadline?.aborted === true && !run.signal.aborted) throw outOfTime(run, run.task.maxDurationMs ?? 0);
    throw error;
  });
  // The whole turn follows at once: deltas that still wait would say the same.
  await writers.discard();
  run.state.measured = { inputTokens: completed.usage.inputTokens, bytes: request.bytes };
  stageTurn(run, turn, completed, attempts.plan);
}

function stageTurn(run: Run, turn: number, completed: ModelTurn, plan: CallPlan): void {
  const isTaken = (id: string) => run.transcript.callIds.has(id) || run.state.callIds.has(id);
  const content = giveUniqueCallIds(withoutMasked(completed.content), isTaken, turn);
  const used = { tokens: countTokens(completed.usage), costUsd: completed.costUsd };
  run.spent.tokens += used.tokens;
  run.spent.costNano += Math.round((used.costUsd ?? 0) * 1e9);
  if (used.costUsd === null) run.isCostKnown = false;
  run.journal.stage([turnCompleted(turn, completed, content)], toSettlement(plan, used));
}

/** A thought that holds a secret is masked, and its signature no longer fits: providers refuse it, so it is left out. */
function withoutMasked(content: AssistantPart[]): AssistantPart[] {
  return content.filter((part) => part.type !== 'reasoning' || maskSecrets(part.text) === part.text);
}

export function turnCompleted(turn: number, completed: ModelTurn, content: AssistantPart[]): NewEvent {
  return {
    type: 'agent.turn_completed',
    payload: {
      turn,
      attempt: completed.attempt,
      model: completed.model,
      message: { role: 'assistant', content: content as unknown as { type: string }[] },
      finishReason: completed.finishReason,
      usage: completed.usage,
      costUsd: completed.costUsd,
      durationMs: Math.round(completed.durationMs),
    },
  };
}

/** How often a sub-Vitto looks whether others have given back what they had only reserved, in milliseconds. */
const RESERVED_WAIT_MS = 500;

/**
 * Reserves the first attempt. A limit that tasks share is not used up by what others hold for a call under way: most of
 * that is given back with its answer, so this one waits for it.
 * @throws BudgetRefused
 */
async function reserveFirst(
  run: Run,
  request: TurnRequest,
  model: Model,
  inputTokens: number,
  turn: number,
): Promise<CallPlan> {
  for (;;) {
    const reserved = await tryReserve(run, request, model, inputTokens, turn);
    if ('plan' in reserved) return reserved.plan;
    const { refusal } = reserved;
    const isShared = refusal.ofTaskId !== run.task.id;
    if (!isShared || run.isDraining() || !(await run.journal.isBudgetHeldByOthers())) {
      throw new BudgetRefused(refusal);
    }
    await run.deps.clock.sleep(RESERVED_WAIT_MS, run.signal);
    throwIfOutOfTime(run);
  }
}

async function tryReserve(
  run: Run,
  request: TurnRequest,
  model: Model,
  inputTokens: number,
  turn: number,
): Promise<{ plan: CallPlan } | { refusal: BudgetRefusal }> {
  const held = run.headroom ?? planHeadroom(model, run.task.maxTokens);
  const fresh = run.headroom === null ? held : { tokens: 0, costNano: 0 };
  const day = dayIn(run.deps.timeZone, run.deps.clock.now());
  let plan = planCall(model, inputTokens, model.maxOutputTokens);
  for (let tries = 0; tries < 4; tries += 1) {
    const event = iteration(run, request, turn, plan, model);
    const refusal = await run.journal.reserve(
      toReservation(plan, fresh, day, run.deps.dailyLimitNano),
      [event],
      run.state.iteration + 1,
    );
    if (refusal === null) {
      run.headroom = held;
      return { plan };
    }
    const smaller = shrinkPlan(plan, model, refusal, fresh.tokens, fresh.costNano);
    if (smaller === null) return { refusal };
    plan = smaller;
  }
  return { refusal: { budget: 'tokens', limit: 0, spent: 0, ofTaskId: run.task.id } };
}

function iteration(run: Run, request: TurnRequest, turn: number, plan: CallPlan, model: Model): NewEvent {
  return {
    type: 'agent.iteration',
    payload: {
      iteration: run.state.iteration + 1,
      turn,
      inputSeq: run.state.inputSeq,
      ...(request.notes.length === 0 ? {} : { notes: request.notes }),
      ...(request.warned.length === 0 ? {} : { warned: request.warned }),
      reserved: {
        inputTokens: plan.inputTokens,
        outputTokens: plan.outputTokens,
        costUsd: model.price === null ? null : plan.costNano / 1e9,
        inputCostUsd: planCall(model, plan.inputTokens, 0).costNano / 1e9,
      },
    },
  };
}

/** Books what each attempt has reserved: a failed one is given back before the next is reserved. */
class AttemptLedger {
  readonly #run: Run;
  #model: Model;
  plan: CallPlan;
  #isOpen = true;

  constructor(run: Run, model: Model, plan: CallPlan) {
    this.#run = run;
    this.#model = model;
    this.plan = plan;
  }

  /** Text of an attempt that broke off was billed: its input is booked, with a token for each four letters read. */
  failed(readLength: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const read =
      readLength === 0 ? null : planCall(this.#model, this.plan.inputTokens, Math.ceil(readLength / 4));
    const tokens = read === null ? 0 : read.inputTokens + read.outputTokens;
    const isUnknown = read !== null && this.#model.price === null;
    const costNano = read?.costNano ?? 0;
    this.#run.spent.tokens += tokens;
    this.#run.spent.costNano += costNano;
    if (isUnknown) this.#run.isCostKnown = false;
    this.#run.journal.stage(
      [],
      toSettlement(this.plan, { tokens, costUsd: isUnknown ? null : costNano / 1e9 }),
    );
  }

  /** @throws BudgetRefused when another model's price does not fit. */
  async next(model: Model): Promise<void> {
    if (this.#isOpen) return;
    const plan = planCall(
      model,
      this.plan.inputTokens,
      Math.min(this.plan.outputTokens, model.maxOutputTokens),
    );
    const { deps } = this.#run;
    const reservation = toReservation(
      plan,
      NOTHING,
      dayIn(deps.timeZone, deps.clock.now()),
      deps.dailyLimitNano,
    );
    const refusal = await this.#run.journal.reserve(reservation, []);
    if (refusal !== null) throw new BudgetRefused(refusal);
    this.plan = plan;
    this.#model = model;
    this.#isOpen = true;
  }
}
const NOTHING = { tokens: 0, costNano: 0 };

interface Writers {
  text: (attempt: number, delta: string) => Promise<void>;
  reasoning: (attempt: number, delta: string) => Promise<void>;
  /** Letters of the attempt so far. */
  readLength: () => number;
  discard: () => Promise<void>;
}

function openWriters(run: Run, turn: number): Writers {
  const open = new Map<string, DeltaWriter>();
  let length = 0;
  const push = (type: 'agent.text' | 'agent.reasoning', attempt: number, delta: string) => {
    const key = `${type} ${attempt}`;
    let writer = open.get(key);
    if (writer === undefined) {
      writer = new DeltaWriter({
        everyMs: TEXT_EVERY_MS,
        maxLength: TEXT_MAX_LENGTH,
        write: (text) => run.journal.append([{ type, payload: { turn, attempt, delta: text } }]),
      });
      open.set(key, writer);
    }
    length += delta.length;
    return writer.push(delta);
  };
  return {
    text: (attempt, delta) => push('agent.text', attempt, delta),
    reasoning: (attempt, delta) => push('agent.reasoning', attempt, delta),
    readLength: () => length,
    discard: async () => {
      length = 0;
      for (const writer of open.values()) await writer.discard();
      open.clear();
    },
  };
}

function hooksOf(run: Run, turn: number, writers: Writers, attempts: AttemptLedger): TurnHooks {
  return {
    beforeAttempt: async (model) => {
      throwIfOutOfTime(run);
      await attempts.next(model);
    },
    onText: writers.text,
    onReasoning: writers.reasoning,
    onRetry: async (info) => {
      attempts.failed(writers.readLength());
      await writers.discard();
      await run.journal.append([{ type: 'model.retry', payload: { turn, ...info } }]);
    },
    onFallback: async (info) => {
      attempts.failed(writers.readLength());
      await writers.discard();
      await run.journal.append([{ type: 'model.fallback', payload: { turn, ...info } }]);
    },
  };
}

/** The longest time that a timer of the platform takes, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Aborts when the task's running time is used up; `null` without a limit. */
function deadlineOf(run: Run): AbortSignal | null {
  const limit = run.task.maxDurationMs;
  if (limit === null) return null;
  return AbortSignal.timeout(Math.min(MAX_TIMER_MS, Math.max(1, Math.ceil(limit - runningMs(run)))));
}

/** @throws BudgetRefused when the task's running time is used up. */
export function throwIfOutOfTime(run: Run): void {
  const limit = run.task.maxDurationMs;
  if (limit !== null && runningMs(run) >= limit) throw outOfTime(run, limit);
}

function outOfTime(run: Run, limit: number): BudgetRefused {
  return new BudgetRefused({
    budget: 'duration',
    limit,
    spent: Math.round(runningMs(run)),
    ofTaskId: run.task.id,
  });
}

export function notConfigured(): ModelError {
  return new ModelError(
    'model.not-configured',
    'No model is set up.',
    'Set one up in the settings under Models, or set a provider key (for example ANTHROPIC_API_KEY) or VITTO_MODEL and start again.',
  );
}
