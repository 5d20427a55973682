import type { KnownEvent, WaitingFor } from '@vitto/contracts';
import { GuestError, readKnownEvent } from '@vitto/contracts';
import type { Tool, ToolResult } from '../tools/tool.ts';
import { holdGuest } from './hold-guest.ts';
import type { Run } from './run-context.ts';
import type { OpenCall } from './run-state.ts';
import { openContext, whereRan } from './tool-context.ts';
import { boundResult, toResultEvent } from './tool-result.ts';

const UNKNOWN =
  'The process that ran this call ended before its result was known. It was not run again. Whether it took effect is unknown: check (for example by reading what it would have changed) before you repeat it.';

/**
 * A call that had started before this run: one that parked gets its result from what has happened since; one that a
 * crash interrupted is run again when that does no harm, and else settled by the record of the VM it ran in. Without
 * one its outcome is said to be unknown.
 */
export async function settleStarted(
  run: Run,
  call: OpenCall,
  tool: Tool,
): Promise<'open' | 'settled' | 'waiting'> {
  if (call.started === null) return 'open';
  if (call.parkedOn !== null) {
    const result = await resume(run, call, tool, call.parkedOn);
    if (result === null) return 'waiting';
    run.journal.stage([toResultEvent(call, tool, result, { durationMs: 0 })]);
    return 'settled';
  }
  if (tool.idempotency !== 'once') return 'open';
  if (!(await settleByRecord(run, call, tool))) {
    run.journal.stage([toResultEvent(call, tool, { status: 'unknown', text: UNKNOWN }, { durationMs: 0 })]);
  }
  return 'settled';
}
async function resume(
  run: Run,
  call: OpenCall,
  tool: Tool,
  parkedOn: WaitingFor,
): Promise<ToolResult | null> {
  const since = run.state.sincePark.map((event) => readKnownEvent({ ...event, at: EPOCH })).filter(isKnown);
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(tool.timeoutMs)]);
  const { context } = openContext(run, call, signal);
  const result = (await tool.resume?.(parkedOn, since, context)) ?? null;
  return result === null ? null : boundResult(result, tool.name, run.deps.artifacts);
}
const EPOCH = new Date(0).toISOString();
function isKnown(event: KnownEvent | null): event is KnownEvent {
  return event !== null;
}

/** Asks the machine that the call ran in what became of it; false where that cannot be told. */
async function settleByRecord(run: Run, call: OpenCall, tool: Tool): Promise<boolean> {
  if (tool.settle === undefined || run.state.vm === null || run.state.isDegraded) return false;
  const input = tool.input.safeParse(call.input);
  const hold = await holdGuest(run);
  if (!input.success || hold.kind !== 'held' || hold.vm === null) return false;
  const began = run.deps.clock.monotonic();
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(tool.timeoutMs)]);
  const { context, used, finish } = openContext(run, call, signal);
  const found = await tool.settle(input.data as never, context).catch((error: unknown) => {
    run.signal.throwIfAborted();
    if (!(error instanceof GuestError)) run.deps.logger.warn({ err: error }, 'a record could not be read');
    return null;
  });
  await finish();
  run.signal.throwIfAborted();
  if (found === null) return false;
  const text = [SETTLED, found.text, ...used.notices.map((notice) => `[${notice}]`)].join('\n\n');
  const result: ToolResult = await boundResult({ ...found, text }, tool.name, run.deps.artifacts);
  const durationMs = run.deps.clock.monotonic() - began;
  run.journal.stage([toResultEvent(call, tool, result, { durationMs, ranOn: whereRan(used.hold) })]);
  return true;
}
const SETTLED =
  "[The process that ran this call ended before its result was known; this is from the machine's own record.]";
