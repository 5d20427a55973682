import { AppError } from '../../kernel/app-error.ts';
import type { Releaser } from '../host/sandbox-host.ts';
import { deleteClaim, putClaim, raiseClaim, type ClaimRow } from './claim.store.ts';
import type { Held } from './machine.store.ts';
import { sessionLost } from './session-calls.ts';
import type { ClaimEnd, SessionDeps } from './session-types.ts';

/** Who calls, and the number of its lease of the task. */
export interface Caller {
  taskId: string;
  fence: number;
}

interface Claim extends Caller {
  since: Date;
  lastCallAt: Date;
  /** It has called since that was last written down. */
  hasCalled: boolean;
}

type ClaimDeps = Pick<SessionDeps, 'database' | 'events' | 'policy'>;
export type ClaimOutcome = 'claimed' | 'gone' | 'taken';

/** The tasks that hold a session, as the database has them. */
export class SessionClaims {
  readonly #deps: ClaimDeps;
  readonly #held: Held;
  readonly #userId: string;
  readonly #claims = new Map<string, Claim>();
  /** Who waits for the session to be free, in the order in which they came. */
  readonly #line = new Set<() => void>();
  /** Whose claim is being written, where there may be one only. */
  #coming: string | null = null;

  constructor(deps: ClaimDeps, held: Held, userId: string) {
    this.#deps = deps;
    this.#held = held;
    this.#userId = userId;
  }

  get size(): number {
    return this.#claims.size;
  }
  get all(): readonly Readonly<Claim>[] {
    return [...this.#claims.values()];
  }

  /** Those that an earlier process of this host wrote. */
  load(rows: ClaimRow[]): void {
    for (const row of rows) this.#claims.set(row.taskId, { ...row, hasCalled: false });
  }

  /** `gone`: the session does not run any more; `taken`: another task has it for itself. @throws AppError `sandbox.stale-fence` */
  async put(caller: Caller): Promise<ClaimOutcome> {
    this.#refuseStale(caller);
    if (this.#isTaken(caller.taskId)) return 'taken';
    this.#coming = caller.taskId;
    try {
      const row = await putClaim(this.#deps.database, this.#held, { ...caller, userId: this.#userId });
      this.#refuseStale(caller);
      if (row !== null) this.#claims.set(row.taskId, { ...row, hasCalled: false });
      return row === null ? 'gone' : 'claimed';
    } finally {
      this.#coming = null;
      this.#moveUp();
    }
  }

  /**
   * Waits until no other task has the session; at once where tasks share it. `tell`: the place in the line.
   * @throws the signal's reason
   */
  async waitForTurn(taskId: string, tell: (place: number) => void, signal?: AbortSignal): Promise<void> {
    while (this.#isTaken(taskId)) {
      signal?.throwIfAborted();
      tell(this.#line.size + 1);
      const free = Promise.withResolvers<void>();
      const wake = (): void => free.resolve();
      this.#line.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
      await free.promise;
      signal?.removeEventListener('abort', wake);
      this.#line.delete(wake);
    }
    signal?.throwIfAborted();
  }

  /** Ends a claim. Idempotent. @throws AppError `sandbox.stale-fence` when it is a later owner's */
  async remove({ taskId, fence }: Releaser): Promise<boolean> {
    if (fence !== null) this.#refuseStale({ taskId, fence });
    await deleteClaim(this.#deps.database, { sessionId: this.#held.id, taskId, fence });
    if (fence !== null) this.#refuseStale({ taskId, fence });
    const isRemoved = this.#claims.delete(taskId);
    this.#moveUp();
    return isRemoved;
  }

  /** A call with a higher fence comes from the worker that has taken the task over: from now on only it may call. */
  async raise(caller: Caller): Promise<void> {
    this.#refuseStale(caller);
    const claim = this.#claims.get(caller.taskId);
    if (claim === undefined || claim.fence === caller.fence) return;
    claim.fence = caller.fence;
    await raiseClaim(this.#deps.database, { sessionId: this.#held.id, ...caller });
  }

  /** Notes a call. @throws GuestError `session-lost` without a claim; AppError `sandbox.stale-fence` */
  use(caller: Caller): void {
    this.#refuseStale(caller);
    const claim = this.#claims.get(caller.taskId);
    if (claim === undefined) throw sessionLost('this task has no claim on it');
    Object.assign(claim, { hasCalled: true, lastCallAt: new Date() });
  }

  /** Those that have called since the last time that this was asked. */
  takeCallers(isCalling: (taskId: string) => boolean): { sessionId: string; taskId: string }[] {
    const called = this.all.filter((claim) => claim.hasCalled || isCalling(claim.taskId));
    for (const { taskId } of called) Object.assign(this.#claims.get(taskId) as Claim, { hasCalled: false });
    return called.map(({ taskId }) => ({ sessionId: this.#held.id, taskId }));
  }

  mayRelease(taskId: string): boolean {
    return this.#claims.get(taskId)?.hasCalled === false;
  }

  /** Forgets all of them and tells whom they belonged to. The database's are gone with the change of state. */
  end(how: ClaimEnd['how'], reason: string): void {
    const tasks = [...this.#claims.keys()];
    this.clear();
    for (const taskId of tasks) this.tell(taskId, how, reason);
  }

  clear(): void {
    this.#claims.clear();
    this.#moveUp();
  }

  #isTaken(taskId: string): boolean {
    if (this.#deps.policy.reuseActive) return false;
    const holders = [...this.#claims.keys(), this.#coming];
    return holders.some((one) => one !== null && one !== taskId);
  }

  #moveUp(): void {
    for (const wake of this.#line) wake();
  }

  tell(taskId: string, how: ClaimEnd['how'], reason: string): void {
    this.#deps.events.onClaimEnded?.({
      sandboxId: this.#held.id,
      userId: this.#userId,
      taskId,
      how,
      reason,
    });
  }

  #refuseStale(caller: Caller): void {
    const seen = this.#claims.get(caller.taskId)?.fence ?? 0;
    if (caller.fence < seen) throw staleFence();
  }
}

export function staleFence(): AppError {
  return new AppError('sandbox.stale-fence', 'Another worker has taken the task over.', {
    status: 409,
    hint: 'The task goes on there; nothing is to be done here.',
  });
}
