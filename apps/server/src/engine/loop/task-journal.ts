import type {
  ArtifactRef,
  EventEnvelope,
  Failure,
  NewEvent,
  WaitingFor,
  WaitingState,
} from '@vitto/contracts';
import type { NewApproval } from '../journal/approval.store.ts';
import type { BudgetRefusal, Reservation, Settlement } from '../journal/journal.store.ts';
import type { NewSubVitto } from '../journal/sub-vitto.store.ts';

/** How a task is accomplished, or not. */
export interface Finish {
  text: string;
  success: boolean;
  artifacts?: ArtifactRef[];
  /** Its acceptance check passed. */
  check?: { command: string; exitCode: number };
}

/** A round of sub-Vittos as it is written. */
export interface SpawnedRound {
  children: NewSubVitto[];
  /** What all sub-Vittos of the task together may spend from now on; `null`: what the task may. */
  pool: { tokens: number | null; costNano: number | null } | null;
  /** Sub-Vittos of the user that may work at once: so many are woken. */
  maxParallel: number;
  events: NewEvent[];
}

/** An event as the engine folds it, whether it was just written or read back. */
export type FoldEvent = Pick<EventEnvelope, 'taskId' | 'seq' | 'position' | 'type' | 'payload'>;

/**
 * The owner's hold on a task's journal while it runs. Writes come one after the other; each throws `LostLease` once
 * another process owns the task. While the database is away a write waits for it: what was done is not lost.
 */
export interface TaskJournal {
  /** Seq of the last event that is known here. */
  readonly lastSeq: number;
  /** True when somebody else has appended (a message, a decision) since the last read. */
  readonly hasNews: boolean;
  /** Reads what others have appended, and folds it. */
  readNews: () => Promise<void>;
  /** Folds events now and keeps them for the next write: nothing becomes visible by waiting for it. */
  stage: (events: NewEvent[], settle?: Settlement) => void;
  /** Writes what is staged and `events` in one transaction, and folds them. */
  append: (events: NewEvent[]) => Promise<void>;
  /** Writes what is staged; then, unless the reservation is refused, `events` with it. */
  reserve: (
    reservation: Reservation,
    events: NewEvent[],
    iteration?: number,
  ) => Promise<BudgetRefusal | null>;
  /** Whether other tasks with the same root hold part of a shared budget for a call that is under way. */
  isBudgetHeldByOthers: () => Promise<boolean>;
  /** Asks for approvals: rows and events in one transaction. */
  requestApprovals: (approvals: NewApproval[], events: NewEvent[]) => Promise<void>;
  /** Deploys a round of sub-Vittos: their rows, the first events of their journals and this task's `events` in one transaction. */
  spawn: (round: SpawnedRound) => Promise<void>;
  /** Uses an approval up and journals the call that it allows, in one transaction; false when it is not good (any more). */
  startApproved: (approvalId: string, argumentsHash: string, event: NewEvent) => Promise<boolean>;
  /** Ends the approvals of this task (those of one tool) that nobody will decide any more. */
  voidApprovals: (reason: string, tool?: string) => Promise<void>;
  /** Marks the task as having read untrusted text. */
  taint: () => Promise<void>;
  /**
   * Ends the ownership. False: there is news to read first, and nothing was written. `keepsHeadroom`: what makes its
   * closing turn possible stays reserved when it parks, and is not left to sub-Vittos that work on.
   */
  park: (state: WaitingState, waitingFor: WaitingFor, keepsHeadroom: boolean) => Promise<boolean>;
  complete: (finish: Finish) => Promise<boolean>;
  fail: (error: Failure) => Promise<void>;
  /** Gives the task back to the queue at a step boundary (shutdown). */
  giveBack: (reason: string) => Promise<void>;
}
