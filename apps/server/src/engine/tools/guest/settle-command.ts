import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { CommandRecord, ExecResult, VmGuestSession } from '@vitto/contracts';
import type { ToolContext, ToolResult } from '../tool.ts';
import { describeEnd, describeOutput } from './command-report.ts';

const LOOK_EVERY_MS = 500;

/** The name of a call's record in its VM, which other tasks of the user share: calls are numbered by each task anew. */
export function recordOf({ task, callId }: Pick<ToolContext, 'task' | 'callId'>): string {
  return createHash('sha256').update(`${task.id}\n${callId}`).digest('hex').slice(0, 40);
}

/**
 * How a command ended whose caller died, from the machine's own record. One that still runs is waited for: the guest
 * ends it at its time limit, whoever listens. `null`: the machine knows nothing of it.
 */
export async function settleCommand(guest: VmGuestSession, context: ToolContext): Promise<ToolResult | null> {
  const callId = recordOf(context);
  for (let isFirst = true; ; isFirst = false) {
    const record = await guest.readCommand({ callId, signal: context.signal });
    if (record.state === 'unknown') return null;
    if (record.state !== 'running') return toResult(record);
    if (isFirst) context.reportProgress('note', 'The command still runs in the VM; waiting for its end.\n');
    await wait(LOOK_EVERY_MS, undefined, { signal: context.signal });
  }
}

function toResult(record: CommandRecord): ToolResult {
  const { exitCode, signal, timedOut, stdoutBytes, stderrBytes, durationMs } = record;
  const wasCut = record.state === 'cut-short';
  const end = wasCut
    ? 'It was cut short: the machine ended while it ran. What it had done until then may be half done.'
    : describeEnd({ ...record, ...NO_MORE_KNOWN }, 'vm');
  const output = record.output === undefined ? [NOT_KEPT] : describeOutput(record.output);
  return {
    status: timedOut ? 'timeout' : !wasCut && exitCode === 0 ? 'ok' : 'error',
    text: [end, ...output].join('\n'),
    data: {
      exitCode,
      signal,
      timedOut,
      limit: null,
      durationMs,
      stdoutBytes,
      stderrBytes,
      leftoversKilled: 0,
    },
  };
}
const NO_MORE_KNOWN = { limit: null, leftoversKilled: 0 } satisfies Partial<ExecResult>;
const NOT_KEPT = 'What it printed is not known.';
