import type { EventPayload } from '@vitto/contracts';
import type { ApprovalItem, QuestionItem } from '../chat/model/view.ts';
import type { InboxEntry } from './inbox-entry.ts';

/** An entry as the chat's own cards take it. */
export function toItem(
  entry: InboxEntry,
  isWaiting: boolean,
  decided: EventPayload<'approval.decided'> | undefined,
): ApprovalItem | QuestionItem {
  const place = { key: entry.id, taskId: entry.taskId, at: entry.at, position: 0 };
  if (entry.kind === 'question') {
    const { callId, question, choices } = entry;
    return {
      kind: 'question',
      ...place,
      callId,
      question,
      choices,
      isOfAgent: false,
      state: isWaiting ? 'open' : 'answered',
    };
  }
  const { tool, arguments: args, argumentsHash, reason, risk, domain, expiresAt } = entry.approval;
  return {
    kind: 'approval',
    ...place,
    approvalId: entry.id,
    tool,
    arguments: args,
    argumentsHash,
    reason,
    risk,
    domain,
    expiresAt,
    decision: decided ?? null,
    isClosed: !isWaiting,
  };
}
