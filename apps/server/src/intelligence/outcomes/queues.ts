import type { Outcome } from '@vitto/contracts';
import type { WakeQueue } from '../../kernel/queue.ts';

/** Tasks that have ended and are to be reported. */
export const OUTCOME_QUEUE = 'vitto-outcomes';
/** Subscribers that are to be told. */
export const NEWS_QUEUE = 'vitto-outcome-news';

/** Nothing of it leaves this installation, so the first tries follow at once; the last comes after more than a day. */
export const OUTCOME_RETRIES = { retryLimit: 36, retryDelay: 1, retryDelayMax: 3600 };

export interface OutcomeJob {
  taskId: string;
}

export interface NewsJob {
  subscriber: string;
  taskId: string;
  /** As it was before the change that is told; null: it was reported for the first time. */
  previous: Outcome | null;
}

/**
 * Asks for the report of a task in the transaction that ends it: the report comes if and only if the task has ended,
 * whatever process dies in between. Needs `OutcomeFeedbackService.start` in this process before.
 */
export function queueOutcome(
  queue: Pick<WakeQueue, 'send'>,
  client: Parameters<WakeQueue['send']>[2],
  taskId: string,
): Promise<void> {
  const job: OutcomeJob = { taskId };
  return queue.send(OUTCOME_QUEUE, [job], client);
}
