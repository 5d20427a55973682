import type { ModelError } from './model.ts';
import type { RetryReason } from './model.ts';

/** Why an attempt gave no turn, and what follows from it. */
export type TurnFailure =
  /** The same model may well answer later. `askedMs` is what the provider asks to wait. */
  | { then: 'retry'; reason: RetryReason; status?: number; askedMs: number | null; message: string }
  /** This model will not answer, another may. */
  | { then: 'fallback'; error: ModelError }
  /** The request itself is at fault: no other model is asked. */
  | { then: 'stop'; error: ModelError };

/** The stream ended, broke or made no sense before it was finished. */
export class StreamCut extends Error {
  override name = 'StreamCut';
}

/** Nothing came for too long. */
export class StreamStalled extends Error {
  override name = 'StreamStalled';
}
