import { approvalState, risk, type Approval } from '@vitto/contracts';
import { z } from 'zod';

/** An approval as the tools give it. */
export const approvalView = z.object({
  approval_id: z.string(),
  task_id: z.string(),
  tool: z.string(),
  /** What will run, whole. */
  arguments: z.json(),
  /** Names exactly these arguments: a decision is for them. */
  arguments_hash: z.string(),
  reason: z.string(),
  risk,
  state: approvalState,
  note: z.string().nullable(),
  expires_at: z.string(),
});
export type ApprovalView = z.input<typeof approvalView>;

export function toApprovalView(approval: Approval): ApprovalView {
  return {
    approval_id: approval.id,
    task_id: approval.taskId,
    tool: approval.tool,
    arguments: approval.arguments,
    arguments_hash: approval.argumentsHash,
    reason: approval.reason,
    risk: approval.risk,
    state: approval.state,
    note: approval.note,
    expires_at: approval.expiresAt,
  };
}

export function describeApproval(approval: ApprovalView): string {
  return [
    `Approval ${approval.approval_id} of task ${approval.task_id}: ${approval.state}.`,
    `${approval.tool} (${approval.risk}), because: ${approval.reason}`,
    `arguments: ${JSON.stringify(approval.arguments)}`,
    `arguments_hash: ${approval.arguments_hash}`,
    `expires: ${approval.expires_at}`,
  ].join('\n');
}
