import type { EventPayload, NewEvent } from '@vitto/contracts';
import type { ToolContext } from '../tools/tool.ts';
import { checkAcceptance } from './check-acceptance.ts';
import { DeltaWriter } from './delta-writer.ts';
import type { GuestHold } from './guest-claim.ts';
import { guestOfCall } from './hold-guest.ts';
import { runningMs, type Run } from './run-context.ts';
import type { OpenCall } from './run-state.ts';

const PROGRESS_EVERY_MS = 200;
const PROGRESS_MAX_LENGTH = 4_096;

/** The guest that a call took, and what is to be told with its result. */
export interface GuestUse {
  hold: Extract<GuestHold, { kind: 'held' }> | null;
  notices: string[];
}

/** What a call's handler reaches; `finish` writes the rest of its progress. */
export function openContext(
  run: Run,
  call: OpenCall,
  signal: AbortSignal,
): { context: ToolContext; used: GuestUse; finish: () => Promise<void> } {
  const progress = openProgress(run, call);
  const used: GuestUse = { hold: null, notices: [] };
  return { context: toContext(run, call, signal, progress, used), used, finish: progress.finish };
}

export function whereRan(hold: GuestUse['hold']): EventPayload<'tool.called'>['ranOn'] {
  if (hold === null) return { kind: 'in-process' };
  const { session, vm } = hold;
  return {
    kind: session.kind,
    sandboxId: session.id,
    ...(vm?.host === undefined ? {} : { host: vm.host }),
    ...(vm?.from === undefined ? {} : { from: vm.from }),
  };
}

interface Progress {
  report: ToolContext['reportProgress'];
  finish: () => Promise<void>;
}

function openProgress(run: Run, call: OpenCall): Progress {
  const writers = new Map<string, DeltaWriter>();
  const report: ToolContext['reportProgress'] = (stream, text) => {
    let writer = writers.get(stream);
    if (writer === undefined) {
      writer = new DeltaWriter({
        everyMs: PROGRESS_EVERY_MS,
        maxLength: PROGRESS_MAX_LENGTH,
        holdsBackSecrets: true,
        write: (delta) => run.journal.append([progressEvent(call, stream, delta)]),
      });
      writers.set(stream, writer);
    }
    // A lost lease shows at the next write of the loop itself.
    writer.push(text).catch(() => undefined);
  };
  const finish = async () => {
    for (const writer of writers.values()) await writer.finish();
  };
  return { report, finish };
}

function progressEvent(call: OpenCall, stream: 'stdout' | 'stderr' | 'note', text: string): NewEvent {
  const shown =
    text.length > PROGRESS_MAX_LENGTH ? `…${text.slice(-PROGRESS_MAX_LENGTH).toWellFormed()}` : text;
  return { type: 'tool.progress', payload: { callId: call.callId, stream, text: shown } };
}

function toContext(
  run: Run,
  call: OpenCall,
  signal: AbortSignal,
  progress: Progress,
  used: GuestUse,
): ToolContext {
  const { task } = run;
  const claimGuest = async () => {
    const hold = await guestOfCall(run);
    used.hold = hold;
    // Taken off, so that the first call alone tells them.
    const notices = hold.notices.splice(0);
    used.notices.push(...notices);
    for (const notice of notices) progress.report('note', `${notice}\n`);
    return hold.session;
  };
  return {
    task: {
      id: task.id,
      userId: task.userId,
      conversationId: task.conversationId,
      parentId: task.parentId,
      rootId: task.rootId,
      depth: task.depth,
      allowedPaths: task.allowedPaths,
    },
    callId: call.callId,
    signal,
    reportProgress: progress.report,
    artifacts: run.deps.artifacts,
    claimGuest,
    checkAcceptance: () => checkAcceptance(run, claimGuest, signal),
    fillSecrets: run.deps.fillSecrets,
    isTainted: () => task.isTainted,
    agents: run.deps.orchestrator.openAccess(run, call.callId),
    budgetLeft: () => ({
      iterations: task.maxIterations - run.state.iteration,
      tokens: task.maxTokens === null ? null : task.maxTokens - run.spent.tokens,
      costUsd: task.maxCostNano === null ? null : (task.maxCostNano - run.spent.costNano) / 1e9,
      durationMs: task.maxDurationMs === null ? null : task.maxDurationMs - runningMs(run),
    }),
  };
}
