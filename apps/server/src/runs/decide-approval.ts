import type { SqlClient } from '../kernel/database/database.ts';
import {
  appendEvents,
  findAnsweredQuestions,
  findApproval,
  findExpiredApprovals,
  findSameQuestions,
  findTasksWaitingForVm,
  lockTask,
  settleApproval,
  wakeTask,
} from '../engine/index.ts';
import type { Approval, NewEvent } from '@vitto/contracts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { AppError, notFound } from '../kernel/app-error.ts';
import type { RunDependencies } from './run-dependencies.ts';

export interface Decision {
  userId: string;
  approvalId: string;
  decision: 'approved' | 'refused';
  note?: string | undefined;
  argumentsHash?: string | undefined;
  /** Who decided and from where, as shown: `web`, `cli`. */
  by: string;
}

/**
 * Decides an approval, once, and wakes its task. Of ten decisions at the same instant one wins. A word on the process
 * sandbox is one for all sub-Vittos that ask the same.
 * @throws AppError `approval.not-found`; `approval.decided` (409, naming the decision that won); `approval.expired`;
 *   `approval.changed` when the caller saw other arguments.
 */
export async function decideApproval(deps: RunDependencies, decision: Decision): Promise<Approval> {
  const settled = await decideOne(deps, decision);
  const { argumentsHash: _seen, ...same } = decision;
  for (const approvalId of await findSameQuestions(deps.database.pool, settled.id)) {
    await decideUnlessDecided(deps, { ...same, approvalId });
  }
  return settled;
}

/**
 * Answers what a sub-Vitto asked while the user agreed to the same for another one: its question came a moment too late
 * to be among those that were settled then. Run by the workers' sweep.
 */
export async function settleAnsweredQuestions(deps: RunDependencies): Promise<void> {
  for (const { id, userId, decidedBy } of await findAnsweredQuestions(deps.database.pool)) {
    await decideUnlessDecided(deps, { userId, approvalId: id, decision: 'approved', by: decidedBy });
  }
}

async function decideUnlessDecided(deps: RunDependencies, decision: Decision): Promise<void> {
  await decideOne(deps, decision).catch((error: unknown) => {
    // Somebody was faster.
    if (!(error instanceof AppError)) throw error;
  });
}

async function decideOne(deps: RunDependencies, decision: Decision): Promise<Approval> {
  const seen = await findApproval(deps.database.pool, decision.userId, decision.approvalId);
  if (seen === null) throw notFound('approval');
  if (decision.argumentsHash !== undefined && decision.argumentsHash !== seen.argumentsHash) {
    throw new AppError(
      'approval.changed',
      'The arguments that were decided on are not those that would run.',
      {
        status: 409,
        hint: 'Load the approval again and look at what would run.',
      },
    );
  }
  const settled = await inTransaction(deps.database, async (client) => {
    // Task rows are locked before anything of theirs.
    if ((await lockTask(client, seen.taskId)) === null) throw notFound('approval');
    const approval = await settleApproval(client, seen.id, {
      state: decision.decision,
      by: decision.by,
      note: decision.note ?? null,
    });
    if (approval === null) return null;
    await recordDecision(deps, client, approval, decision.decision, decision.by);
    return approval;
  });
  if (settled === null) throw await explainLoss(deps, decision);
  deps.signals.journalGrew(decision.userId);
  return settled;
}

/** Expires what nobody decided in time, and wakes the tasks that waited for it. Run by the workers' sweep. */
export async function expireApprovals(deps: RunDependencies): Promise<void> {
  for (const due of await findExpiredApprovals(deps.database.pool)) {
    await inTransaction(deps.database, async (client) => {
      if ((await lockTask(client, due.taskId)) === null) return;
      const approval = await settleApproval(client, due.id, { state: 'expired', by: 'vitto', note: null });
      if (approval !== null) await recordDecision(deps, client, approval, 'expired', 'vitto');
    });
    deps.signals.journalGrew(due.userId);
  }
}

/** Takes the question for the process sandbox back where a VM can be had by now, and wakes the tasks that waited. */
export async function wakeTasksForVm(
  deps: RunDependencies,
  canHaveVm: (template: string | null) => Promise<boolean>,
): Promise<void> {
  for (const { id, taskId, userId, template } of await findTasksWaitingForVm(deps.database.pool)) {
    if (!(await canHaveVm(template))) continue;
    await inTransaction(deps.database, async (client) => {
      if ((await lockTask(client, taskId)) === null) return;
      const note = 'a VM can be had now';
      const approval = await settleApproval(client, id, { state: 'void', by: 'vitto', note });
      if (approval !== null) await recordDecision(deps, client, approval, 'void', 'vitto');
    });
    deps.signals.journalGrew(userId);
  }
}

async function recordDecision(
  deps: RunDependencies,
  client: SqlClient,
  approval: Approval,
  decision: 'approved' | 'refused' | 'expired' | 'void',
  by: string,
): Promise<void> {
  const isWoken = await wakeTask(client, approval.taskId);
  const events = [decided(approval, decision, by, approval.note)];
  if (isWoken) events.push({ type: 'task.queued', payload: { reason: 'approval' } });
  await appendEvents(client, { taskId: approval.taskId, fence: null, events });
  if (isWoken) await deps.queue.wake(approval.taskId, client);
}

function decided(
  approval: Approval,
  decision: 'approved' | 'refused' | 'expired' | 'void',
  by: string,
  note: string | null,
): NewEvent {
  return {
    type: 'approval.decided',
    payload: {
      approvalId: approval.id,
      callId: approval.callId,
      decision,
      by,
      ...(note === null ? {} : { note }),
    },
  };
}

async function explainLoss(deps: RunDependencies, decision: Decision): Promise<AppError> {
  const now = await findApproval(deps.database.pool, decision.userId, decision.approvalId);
  if (now === null) return notFound('approval');
  if (now.state === 'pending' || now.state === 'expired') {
    return new AppError('approval.expired', 'This approval has expired; nothing was run.', {
      status: 409,
      hint: 'Ask Vitto again; it will ask you again.',
    });
  }
  return new AppError('approval.decided', `This approval was already decided: ${now.state}.`, {
    status: 409,
    hint: 'Nothing was changed by this second decision.',
  });
}
