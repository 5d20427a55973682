import { GuestError, type NewEvent, type WaitingFor } from '@vitto/contracts';
import { AppError, describeError } from '../../kernel/app-error.ts';
import { cutText } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import type { Tool, ToolContext, ToolOutcome, ToolResult } from '../tools/tool.ts';
import { LostLease } from '../journal/journal.store.ts';
import { runningMs, type Run } from './run-context.ts';
import type { Finish } from './task-journal.ts';
import type { OpenCall } from './run-state.ts';
import { openContext, whereRan } from './tool-context.ts';
import { boundResult, toResultEvent } from './tool-result.ts';

/** How a handler ended. `done` has journaled its result, or staged it when it was the turn's last. */
export type ToolRun =
  { kind: 'done' } | { kind: 'park'; waitingFor: WaitingFor } | { kind: 'finish'; finish: Finish };

/**
 * Runs the handler of a call that is journaled as started, with its time limit and its progress, and journals the end.
 * @throws LostLease, or the signal's reason when the run is aborted: then nothing is journaled.
 */
export async function runTool(run: Run, call: OpenCall, tool: Tool, input: unknown): Promise<ToolRun> {
  const { clock } = run.deps;
  const began = clock.monotonic();
  const limit = timeLimit(run, tool);
  const timeout = AbortSignal.timeout(limit);
  const { context, used, finish } = openContext(run, call, AbortSignal.any([run.signal, timeout]));
  const outcome = await callHandler(run, tool, input, context, timeout, limit);
  await finish();
  run.signal.throwIfAborted();
  if (outcome.status === 'park') return { kind: 'park', waitingFor: outcome.waitingFor };

  const result = await boundResult(
    withNotices(toToolResult(outcome), used.notices),
    tool.name,
    run.deps.artifacts,
  );
  if (result.untrusted !== undefined && !run.task.isTainted) {
    run.task.isTainted = true;
    await run.journal.taint();
  }
  const durationMs = clock.monotonic() - began;
  await record(run, toResultEvent(call, tool, result, { durationMs, ranOn: whereRan(used.hold) }));
  if (outcome.status !== 'finish') return { kind: 'done' };
  const { text, success, artifacts, check } = outcome;
  return {
    kind: 'finish',
    finish: {
      text: maskSecrets(text),
      success,
      ...(artifacts === undefined ? {} : { artifacts }),
      ...(check === undefined ? {} : { check }),
    },
  };
}

/** The last result of a turn goes into the same write as what follows it at once; every other is written now. */
async function record(run: Run, event: NewEvent): Promise<void> {
  if (run.state.openCalls.size <= 1) run.journal.stage([event]);
  else await run.journal.append([event]);
}

function timeLimit(run: Run, tool: Tool): number {
  const { maxDurationMs } = run.task;
  if (maxDurationMs === null) return tool.timeoutMs;
  return Math.max(1, Math.min(tool.timeoutMs, Math.floor(maxDurationMs - runningMs(run))));
}

async function callHandler(
  run: Run,
  tool: Tool,
  input: unknown,
  context: ToolContext,
  timeout: AbortSignal,
  limit: number,
): Promise<ToolOutcome> {
  try {
    run.signal.throwIfAborted();
    return await raceAbort(tool.run(input as never, context), context.signal);
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof LostLease) throw error;
    if (timeout.aborted) {
      return {
        status: 'timeout',
        text: `${tool.name} did not end within ${Math.round(limit / 1000)} s and was stopped.`,
      };
    }
    if (error instanceof AppError) {
      const hint = error.hint === undefined ? '' : ` ${error.hint}`;
      return { status: 'error', text: `${error.code}: ${error.message}${hint}` };
    }
    if (error instanceof GuestError) {
      const hint = error.hint === undefined ? '' : ` ${error.hint}`;
      const prefix = error.code === 'unavailable' ? 'tool_unavailable' : error.code;
      return { status: 'error', text: `${prefix}: ${error.message}${hint}` };
    }
    run.deps.logger.error({ err: error, tool: tool.name, taskId: run.task.id }, 'a tool has a defect');
    return {
      status: 'error',
      text: `${tool.name} failed: ${cutText(maskSecrets(describeError(error)), 500)}`,
    };
  }
}

/** A handler that does not heed its signal must not hold the task up: after a grace it is left behind. */
async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let leave: (() => void) | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    leave = () => void setTimeout(() => reject(signal.reason as Error), ABORT_GRACE_MS);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, abandoned]);
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave);
  }
}
/** A stopped command still returns what it printed: it is given TERM, 2 s, then KILL. */
const ABORT_GRACE_MS = 4_000;

/** The person has seen them as a note; the model reads them with the result. */
function withNotices(result: ToolResult, notices: string[]): ToolResult {
  if (notices.length === 0) return result;
  return { ...result, text: [result.text, ...notices.map((notice) => `[${notice}]`)].join('\n\n') };
}

function toToolResult(outcome: Exclude<ToolOutcome, { status: 'park' }>): ToolResult {
  if (outcome.status !== 'finish') return outcome;
  const { text, artifacts } = outcome;
  return { status: 'ok', text, ...(artifacts === undefined ? {} : { artifacts }) };
}
