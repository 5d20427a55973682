import { createHash } from 'node:crypto';
import type { Decision, NewEvent, WaitingFor } from '@vitto/contracts';
import canonicalize from 'canonicalize';
import { newId } from '../../kernel/ids.ts';
import { APPROVAL_HOURS, type NewApproval } from '../journal/approval.store.ts';
import type { Tool } from '../tools/tool.ts';
import { checkCall } from './check-call.ts';
import { holdGuest } from './hold-guest.ts';
import { runTool, type ToolRun } from './run-tool.ts';
import type { Run, RunEnd } from './run-context.ts';
import type { Finish } from './task-journal.ts';
import type { OpenCall } from './run-state.ts';
import { askForDegradation, needsGuest } from './ask-for-degradation.ts';
import { settleStarted } from './settle-started.ts';
import { toResultEvent } from './tool-result.ts';

/** What a round over the open calls came to: every call has its result, or the run must end here. */
export type CallsOutcome =
  | { kind: 'settled' }
  | { kind: 'finish'; finish: Finish }
  | { kind: 'park'; end: Extract<RunEnd, { kind: 'parked' }> };

/** A call that may run now. */
interface Ready {
  call: OpenCall;
  tool: Tool;
  input: unknown;
  argumentsHash: string;
  decision: Decision & { approvalId?: string };
}

/**
 * Brings the calls of the last turn to their results: refuses what is wrong, settles what a crash left open, decides,
 * asks for approvals all at once, and runs what is allowed. Calls run side by side when all are read-only or say that
 * they may, else in the model's order; then one that waits for an approval holds up those behind it.
 */
export async function runCalls(run: Run): Promise<CallsOutcome> {
  const open = [...run.state.openCalls.values()];
  const ready: Ready[] = [];
  const asked: Ready[] = [];
  const waits: WaitingFor[] = [];
  for (const call of open) {
    const checked = checkCall(run, call);
    if ('refusal' in checked) {
      run.journal.stage([checked.refusal]);
      continue;
    }
    const resumed = await settleStarted(run, call, checked.tool);
    if (resumed === 'waiting' && call.parkedOn !== null) waits.push(call.parkedOn);
    if (resumed !== 'open') continue;
    const one = decideCall(run, call, checked.tool, checked.input);
    if (one.decision.verdict === 'refuse')
      run.journal.stage([toRefusal(call, checked.tool, one.decision.reason)]);
    else if (one.decision.verdict === 'ask') asked.push(one);
    else ready.push(one);
  }
  if (run.transcript.hasUnread && asked.length > 0) return withdraw(run, asked);
  await askForApprovals(
    run,
    asked.filter((one) => one.call.approval === null),
  );

  const closing = ready.filter((one) => one.tool.endsTask === true);
  const work = ready.filter((one) => one.tool.endsTask !== true);
  const isParallel = [...work, ...asked].every(
    ({ tool }) => tool.risk === 'read' || tool.isParallelSafe === true,
  );
  const order = new Map(open.map((call, index) => [call.callId, index]));
  const firstAsked = Math.min(...asked.map((one) => order.get(one.call.callId) ?? 0));
  const mayRun = isParallel ? work : work.filter((one) => (order.get(one.call.callId) ?? 0) < firstAsked);
  const held = await holdUp(run, mayRun);
  if (held === 'withdrawn') return { kind: 'settled' };
  const firstHeld = Math.min(...held.calls.map((one) => order.get(one.call.callId) ?? 0));
  const runnable = mayRun.filter((one) =>
    isParallel ? !held.calls.includes(one) : (order.get(one.call.callId) ?? 0) < firstHeld,
  );
  const outcomes = isParallel ? await runSideBySide(run, runnable) : await runInOrder(run, runnable);
  for (const outcome of outcomes) if (outcome.kind === 'park') waits.push(outcome.waitingFor);

  const isHeldUp = asked.length > 0 || waits.length > 0 || runnable.length < work.length;
  const ending = isHeldUp ? [] : await runClosing(run, closing);
  const finish = [...outcomes, ...ending].find((outcome) => outcome.kind === 'finish');
  return finish === undefined
    ? toOutcome(asked, held.approvalId, waits)
    : { kind: 'finish', finish: finish.finish };
}

/** Ends the task when all other calls of the turn ran as they were meant; else the model must see their results first. */
async function runClosing(run: Run, closing: Ready[]): Promise<ToolRun[]> {
  const why = whyNotClosed(run);
  if (why === null) return runInOrder(run, closing);
  for (const { call, tool } of closing) {
    run.journal.stage([toRefusal(call, tool, `The task was not ended: ${why}`)]);
  }
  return [];
}

function whyNotClosed({ state }: Run): string | null {
  if (state.hasRefusal) return 'another call of the same turn did not run. Look at its result first.';
  if (state.openSubVittos.size > 0)
    return `${state.openSubVittos.size} of its sub-Vittos have not ended. Wait for them (wait_for_agents) or stop them (stop_agent) first.`;
  return state.hasUnreadResults
    ? 'its sub-Vittos have ended meanwhile. Read their results first (wait_for_agents).'
    : null;
}

/** The user has written while the model asked: nothing that was asked for runs before the model has read it. */
async function withdraw(run: Run, asked: Ready[]): Promise<CallsOutcome> {
  await run.journal.voidApprovals('the user wrote a message instead');
  for (const { call, tool } of asked) {
    run.journal.stage([toRefusal(call, tool, `${REFUSALS.void}: the user wrote a message instead`)]);
  }
  return { kind: 'settled' };
}

/**
 * Takes the guest before the first call that needs it is journaled as started. Calls are held up while the user has to
 * say whether the process sandbox will do.
 */
async function holdUp(
  run: Run,
  ready: Ready[],
): Promise<{ calls: Ready[]; approvalId: string | null } | 'withdrawn'> {
  const calls = ready.filter((one) => one.tool.tier === 'vm');
  if (calls.length === 0) return { calls, approvalId: null };
  const asks = await needsGuest(run);
  if (asks === null) return { calls: [], approvalId: null };
  if (run.journal.hasNews) await run.journal.readNews();
  if (run.transcript.hasUnread) {
    await withdraw(run, calls);
    return 'withdrawn';
  }
  return { calls, approvalId: await askForDegradation(run, asks) };
}

function toOutcome(asked: Ready[], degradationId: string | null, waits: WaitingFor[]): CallsOutcome {
  const approvalIds = [...asked.map((one) => one.call.approval?.id ?? ''), degradationId ?? ''].filter(
    (id) => id !== '',
  );
  if (asked.length > 0 || degradationId !== null) {
    return {
      kind: 'park',
      end: { kind: 'parked', state: 'waiting_approval', waitingFor: { kind: 'approval', approvalIds } },
    };
  }
  const wait = waits[0];
  if (wait === undefined) return { kind: 'settled' };
  const state = wait.kind === 'children' ? 'waiting_children' : 'waiting_input';
  return { kind: 'park', end: { kind: 'parked', state, waitingFor: wait } };
}

function decideCall(run: Run, call: OpenCall, tool: Tool, input: unknown): Ready {
  const argumentsHash = createHash('sha256')
    .update(canonicalize(call.input) ?? '')
    .digest('hex');
  const ready = { call, tool, input, argumentsHash };
  const { approval } = call;
  if (approval?.decision === 'pending')
    return { ...ready, decision: { verdict: 'ask', reason: 'waits for its approval' } };
  if (approval !== null && approval.decision !== 'approved') {
    const note = approval.note === null ? '' : `: ${approval.note}`;
    const reason = REFUSALS[approval.decision];
    return { ...ready, decision: { verdict: 'refuse', reason: `${reason}${note}` } };
  }
  if (run.gate === null) throw new Error('a call is decided before the gate was evaluated');
  const decision = run.deps.decide(
    {
      tool: tool.name,
      domain: tool.domain,
      risk: tool.risk,
      tier: tool.tier,
      arguments: call.input,
      argumentsHash,
      grantKey: tool.grantKey?.(input) ?? null,
      isTainted: run.task.isTainted,
      isContained: tool.tier === 'vm',
      taskKind: run.task.kind,
    },
    run.gate,
  );
  // An approval turns an `ask` into an act; a refusal that has come since stays one.
  if (approval?.decision === 'approved' && decision.verdict === 'ask') {
    return {
      ...ready,
      decision: { verdict: 'act', reason: 'approved by the user', approvalId: approval.id },
    };
  }
  return { ...ready, decision };
}
const REFUSALS = {
  refused: 'Refused by the user',
  expired: 'Nobody decided on it in time, so it was not run',
  void: 'Not run',
} as const;

function toRefusal(call: OpenCall, tool: Tool, reason: string): NewEvent {
  return toResultEvent(call, tool, { status: 'refused', text: reason }, { durationMs: 0 });
}

async function askForApprovals(run: Run, asked: Ready[]): Promise<void> {
  if (asked.length === 0) return;
  const expiresAt = new Date(run.deps.clock.now() + APPROVAL_HOURS * 3_600_000);
  const approvals: NewApproval[] = asked.map(({ call, tool, argumentsHash, decision }) => ({
    id: newId(),
    taskId: run.task.id,
    userId: run.task.userId,
    callId: call.callId,
    tool: tool.name,
    arguments: call.input,
    argumentsHash,
    reason: decision.reason,
    risk: tool.risk,
    domain: tool.domain,
    expiresAt,
  }));
  const events: NewEvent[] = approvals.map(({ id, taskId: _t, userId: _u, expiresAt: at, ...rest }) => ({
    type: 'approval.requested',
    payload: { ...rest, arguments: rest.arguments as never, approvalId: id, expiresAt: at.toISOString() },
  }));
  await run.journal.requestApprovals(approvals, events);
}

async function runSideBySide(run: Run, ready: Ready[]): Promise<ToolRun[]> {
  const started = await start(run, ready);
  return Promise.all(started.map((one) => runTool(run, one.call, one.tool, one.input)));
}

async function runInOrder(run: Run, ready: Ready[]): Promise<ToolRun[]> {
  const outcomes: ToolRun[] = [];
  for (const one of ready) {
    run.signal.throwIfAborted();
    // One before it may have lost the machine: the next one boots in its own time, not in the tool's.
    if (one.tool.tier === 'vm') await holdGuest(run);
    const [started] = await start(run, [one]);
    if (started === undefined) continue;
    const outcome = await runTool(run, one.call, one.tool, one.input);
    outcomes.push(outcome);
    if (outcome.kind !== 'done') break;
  }
  return outcomes;
}

/** Journals calls as intended, before any of them runs. A used-up approval gives a result instead. */
async function start(run: Run, ready: Ready[]): Promise<Ready[]> {
  const started: Ready[] = [];
  const plain: NewEvent[] = [];
  for (const one of ready) {
    const event = toStarting(one);
    const { approvalId } = one.decision;
    // A call that was interrupted has used its approval already.
    const isUsed = one.call.started?.decision['approvalId'] === approvalId;
    if (approvalId === undefined || isUsed) {
      plain.push(event);
      started.push(one);
    } else if (await run.journal.startApproved(approvalId, one.argumentsHash, event)) {
      started.push(one);
    } else {
      run.journal.stage([
        toRefusal(one.call, one.tool, 'The approval does not fit this call (any more); ask again.'),
      ]);
    }
  }
  if (plain.length > 0) await run.journal.append(plain);
  return started;
}

function toStarting({ call, tool, decision }: Ready): NewEvent {
  return {
    type: 'tool.starting',
    payload: {
      callId: call.callId,
      turn: call.turn,
      tool: tool.name,
      arguments: call.input as never,
      idempotency: tool.idempotency,
      risk: tool.risk,
      domain: tool.domain,
      tier: tool.tier,
      decision: { ...decision },
    },
  };
}
