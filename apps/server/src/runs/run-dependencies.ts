import type { Budget, Settings } from '@vitto/contracts';
import type { Database } from '../kernel/database/database.ts';
import type { OutcomeFeedbackService } from '../intelligence/index.ts';
import type { Logger } from '../kernel/logger.ts';
import type { WakeQueue } from '../kernel/queue.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';

/** What ending tasks needs. */
export type EndDependencies = Pick<RunDependencies, 'database' | 'queue' | 'signals' | 'maxSubVittos'>;

/** What starting, steering and ending runs needs. */
export interface RunDependencies {
  database: Database;
  queue: Pick<WakeQueue, 'wake' | 'send'>;
  signals: Pick<SignalBus, 'journalGrew' | 'taskSeized'>;
  logger: Logger;
  /** A root task's budget unless it asks for less; what a task asks for never exceeds it. */
  rootBudget: Budget;
  /** Of a user's sub-Vittos as many work at once, in all processes together. */
  maxSubVittos: number;
  readSettings: (userId: string) => Promise<Settings>;
  /**
   * Checks a model list at intake; `null` is the installation's own.
   * @throws AppError when it names what does not exist, a file that this user may not name, or a model that has no
   *   price and `needsPrice`.
   */
  checkModels: (list: string | null, by: { userId: string; needsPrice: boolean }) => Promise<void>;
  /** Checks and resolves folders that a user wants to be read; throws AppError naming the one at fault, or for a user who may allow none. */
  resolveAllowedPaths: (paths: string[], userId: string) => Promise<string[]>;
  /** Keeps what became of tasks before they are deleted. */
  outcomes: Pick<OutcomeFeedbackService, 'detachConversation'>;
}
