import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { newId } from '../../kernel/ids.ts';
import { APPROVAL_HOURS, type NewApproval } from '../journal/approval.store.ts';
import { DEGRADE_QUESTION, type GuestQuestion } from './guest-claim.ts';
import { holdGuest } from './hold-guest.ts';
import type { Run } from './run-context.ts';

const QUESTION =
  'No VM can be had for the commands of this task. Approved, they run in the process sandbox (no network, 256 MiB of memory, 30 s of processor time); refused, they do not run.';
const WAITS = 'Undecided, the task waits for a VM and goes on by itself as soon as there is one.';

/**
 * Takes the guest for calls that are about to start. What comes back is why the user must be asked first; `null`: the
 * calls may start (where there is no guest they say so themselves).
 */
export async function needsGuest(run: Run): Promise<GuestQuestion | null> {
  const hold = await holdGuest(run);
  const isPending = run.state.degradation?.decision === 'pending';
  if (hold.kind === 'asks') return { ...hold, kind: 'ask' };
  // A VM has come while the question stood.
  if (isPending) await run.journal.voidApprovals('a VM can be had now', DEGRADE_QUESTION);
  return null;
}

/**
 * Asks once a task whether its commands may run in the process sandbox: an approval like any other, so that it outlives
 * a restart and is answered wherever approvals are. While it stands the task waits, and goes on by itself when a VM
 * can be had. Gives the approval's id.
 */
export async function askForDegradation(run: Run, { reason, isPassing }: GuestQuestion): Promise<string> {
  const { degradation } = run.state;
  if (degradation?.decision === 'pending') return degradation.id;
  const template = run.state.vm?.template ?? run.state.template;
  const args = { reason, waits: isPassing, ...(template === null ? {} : { template }) };
  const approval: NewApproval = {
    id: newId(),
    taskId: run.task.id,
    userId: run.task.userId,
    callId: newId(),
    tool: DEGRADE_QUESTION,
    arguments: args,
    argumentsHash: createHash('sha256')
      .update(canonicalize(args) ?? '')
      .digest('hex'),
    reason: isPassing ? `${QUESTION} ${WAITS}` : QUESTION,
    risk: 'write',
    domain: 'code_execution',
    expiresAt: new Date(run.deps.clock.now() + APPROVAL_HOURS * 3_600_000),
  };
  const { id, taskId: _task, userId: _user, expiresAt, ...shown } = approval;
  await run.journal.requestApprovals(
    [approval],
    [
      {
        type: 'approval.requested',
        payload: { ...shown, arguments: args, approvalId: id, expiresAt: expiresAt.toISOString() },
      },
    ],
  );
  return id;
}
