import { readKnownEvent, type KnownEvent, type webhookBody } from '@vitto/contracts';
import type { z } from 'zod';
import type { NoticedEvent } from './notice-event.ts';

/**
 * What a webhook is sent of an event: enough to know whether to look, and the ids to look with. No arguments, no
 * results, no messages.
 */
export function toWebhookBody({ event, conversationId, title }: NoticedEvent): z.infer<typeof webhookBody> {
  const known = readKnownEvent(event);
  return {
    type: event.type,
    timestamp: event.at,
    data: {
      taskId: event.taskId,
      conversationId,
      position: event.position,
      title,
      ...(known === null ? {} : toFacts(known)),
    },
  };
}

function toFacts(event: KnownEvent): Record<string, unknown> {
  switch (event.type) {
    case 'task.completed':
      return { success: event.payload.success, spending: event.payload.spending };
    case 'task.failed':
      return { error: { code: event.payload.error.code } };
    case 'task.cancelled':
      return { by: event.payload.by };
    case 'task.parked':
      return { state: event.payload.state };
    case 'approval.requested': {
      const { approvalId, tool, risk, domain, argumentsHash, expiresAt } = event.payload;
      return { approvalId, tool, risk, domain, argumentsHash, expiresAt };
    }
    case 'approval.decided':
      return { approvalId: event.payload.approvalId, decision: event.payload.decision };
    case 'budget.exceeded':
      return { budget: event.payload.budget };
    default:
      return {};
  }
}
