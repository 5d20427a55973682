import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { isDatabaseAway, isDiskFull, sqlState } from './database.ts';

/** How often an unreachable database is tried again, in milliseconds. */
const RETRY_MS = 500;
/** Deadlocks and failed serialisations are tried again this often. */
const MAX_CONFLICTS = 5;

/**
 * Runs `work`, and again for as long as the database is away or full: what was done must not be lost. `isRetry` tells
 * it that an earlier try may have taken effect without an answer.
 * @throws what `work` throws for any other reason; the signal's reason when it aborts while waiting.
 */
export async function whileAway<T>(
  work: (isRetry: boolean) => Promise<T>,
  options: { clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<T> {
  const { clock, logger, signal } = options;
  let conflicts = 0;
  for (let isRetry = false; ;) {
    try {
      return await work(isRetry);
    } catch (error) {
      const state = sqlState(error);
      if (state === '40P01' || state === '40001') {
        // The statement was rolled back: trying again is no repetition.
        conflicts += 1;
        if (conflicts > MAX_CONFLICTS) throw error;
        continue;
      }
      if (!isDatabaseAway(error) && !isDiskFull(error)) throw error;
      if (!isRetry) logger.warn({ err: error }, 'the database is away or full; work waits for it');
      isRetry = true;
      await clock.sleep(RETRY_MS, signal);
    }
  }
}
