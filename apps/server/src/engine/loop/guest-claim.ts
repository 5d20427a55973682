import type { EventPayload, GuestError, GuestSession, SandboxWaiting } from '@vitto/contracts';

/** The name under which the user is asked whether a task's commands may run in the process sandbox. */
export const DEGRADE_QUESTION = 'use_process_sandbox';

/** What the journal says of a task's guest so far: a claim is made by it, so that it stays the same for the task. */
export interface GuestHistory {
  /** The VM it had, if any. */
  vm: EventPayload<'vm.acquired'> | null;
  /** The image that was asked for; `null`: any that serves. */
  template: string | null;
  /** It has run in the process sandbox: its files are there. */
  isDegraded: boolean;
  /** What the user said to the process sandbox, or beforehand who started the task; `null`: not asked or not decided. */
  degradation: 'approved' | 'refused' | 'beforehand' | null;
}

export interface GuestRequest extends GuestHistory {
  /** The place in the line, each time it changes. */
  onWaiting: (waiting: SandboxWaiting) => void;
  signal: AbortSignal;
}

/** A guest and how it came, so that a fallback is never silent. */
export interface ClaimedGuest {
  kind: 'claimed';
  session: GuestSession;
  /** How its VM came; `null` in the process sandbox. */
  vm: EventPayload<'vm.acquired'> | null;
  /** Why it is not a VM; `null` when it is. */
  degradedReason: string | null;
  /** What the user expects of it and it has not, as a sentence each. The loop tells each once a run and takes it off. */
  notices: string[];
}

/** No VM can be had, and the user must say whether the process sandbox will do. */
export interface GuestQuestion {
  kind: 'ask';
  /** Why there is no VM, as sentences. */
  reason: string;
  /** It is worth waiting: the task is woken when there is one. */
  isPassing: boolean;
}

/** What came of claiming a task's guest. */
export type GuestHold =
  | { kind: 'held'; session: GuestSession; vm: EventPayload<'vm.acquired'> | null; notices: string[] }
  | ({ kind: 'asks' } & Pick<GuestQuestion, 'reason' | 'isPassing'>)
  | { kind: 'refused'; error: GuestError };

/**
 * Makes or finds the task's guest. Called before the first VM tool of a run and again when its VM is lost or was not
 * used for a while: the same claim again is the same session.
 * @throws GuestError `unavailable` where none may be had; LostLease when another owner has claimed since.
 */
export type ClaimGuest = (request: GuestRequest) => Promise<ClaimedGuest | GuestQuestion>;
