import type { KnownEvent } from '@vitto/contracts';
import { callKey } from './tool-item.ts';
import { placeOf } from './view.ts';
import type { ViewDraft } from './view-draft.ts';

type AskingEvent = Extract<KnownEvent, { type: 'user.message' | 'approval.requested' | 'approval.decided' }>;

/** Approvals, and answers to questions. */
export function applyAsking(draft: ViewDraft, event: AskingEvent): void {
  switch (event.type) {
    case 'user.message':
      return answerQuestions(draft, event);
    case 'approval.requested':
      return request(draft, event);
    case 'approval.decided':
      return decide(draft, event);
  }
}

function answerQuestions(draft: ViewDraft, event: Extract<AskingEvent, { type: 'user.message' }>): void {
  const { answers } = event.payload;
  if (answers === undefined) return;
  draft.changeOfTask('question', event.taskId, (question) =>
    question.callId === answers && question.state === 'open' ? { state: 'answered' } : null,
  );
}

function request(draft: ViewDraft, event: Extract<AskingEvent, { type: 'approval.requested' }>): void {
  const { approvalId, callId, tool, argumentsHash, reason, risk, domain, expiresAt } = event.payload;
  draft.change('tool', callKey(event.taskId, callId), { state: 'asking', risk });
  draft.put({
    kind: 'approval',
    key: `approval:${approvalId}`,
    ...placeOf(event),
    approvalId,
    tool,
    arguments: event.payload.arguments,
    argumentsHash,
    reason,
    risk,
    domain,
    expiresAt,
    decision: null,
    isClosed: false,
  });
}

function decide(draft: ViewDraft, event: Extract<AskingEvent, { type: 'approval.decided' }>): void {
  const { approvalId, callId, decision, by, note } = event.payload;
  draft.change('approval', `approval:${approvalId}`, {
    decision: { decision, by, ...(note === undefined ? {} : { note }) },
  });
  const call = draft.find('tool', callKey(event.taskId, callId));
  if (call?.state === 'asking') {
    draft.put({ ...call, state: decision === 'approved' ? 'waiting' : 'refused' });
  }
}
