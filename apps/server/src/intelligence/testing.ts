import type { Database } from '../kernel/database/database.ts';
import { silentLogger } from '../kernel/logger.ts';
import { OutcomeFeedbackService } from './index.ts';

/** Keeps outcomes when it is asked to; nobody is told of them, and no worker reports any. */
export function createIdleOutcomes(database: Database): OutcomeFeedbackService {
  return new OutcomeFeedbackService({
    database,
    queue: { openSending: async () => {}, send: async () => {}, workSending: async () => {} },
    logger: silentLogger,
  });
}
