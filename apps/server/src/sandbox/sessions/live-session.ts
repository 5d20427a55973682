import { AppError } from '../../kernel/app-error.ts';
import type { Releaser } from '../host/sandbox-host.ts';
import { Arrivals } from './arrivals.ts';
import { Linger } from './linger.ts';
import type { MachineRow } from './machine.store.ts';
import type { UpVm } from './running-vm.ts';
import type { SessionAgent } from './session-agent.ts';
import { sessionLost, type RunningCall } from './session-calls.ts';
import { SessionClaims, type Caller, type ClaimOutcome } from './session-claims.ts';
import type { OpenSandbox, SessionDeps } from './session-types.ts';
import { SessionVm, type Acquired } from './session-vm.ts';

/** One user's machine in this process as its users see it: who comes, who has a claim, who calls. Its VM is `SessionVm`'s. */
export class LiveSession {
  readonly id: string;
  readonly userId: string;
  readonly template: string;
  readonly claims: SessionClaims;
  readonly #deps: SessionDeps;
  readonly #arrivals: Arrivals;
  readonly #vm: SessionVm;
  readonly #linger: Linger;

  constructor(deps: SessionDeps, row: Pick<MachineRow, 'id' | 'userId' | 'template'>) {
    const { id, userId, template } = row;
    this.id = id;
    this.userId = userId;
    this.template = template;
    this.#deps = deps;
    const held = { id, hostId: deps.hostId, holder: deps.holder };
    this.claims = new SessionClaims(deps, held, userId);
    this.#arrivals = new Arrivals(deps.queue, userId);
    this.#linger = new Linger(deps.clock, () => {
      this.suspendIfFree().catch((error: unknown) => this.#log(error, 'an idle VM was not suspended'));
    });
    this.#vm = new SessionVm(deps, held, row, {
      enter: () => this.#arrivals.enter(),
      onUp: () => this.#lingerIfFree(),
      onEnding: () => this.#linger.stop(),
      onEnded: (how, reason) => this.claims.end(how, reason),
      onTakenOver: () => this.claims.clear(),
      onMemoryLost: (reason) => this.#loseClaims(reason),
    });
  }

  /** The VM that is up; `null` when there is none. */
  get sandbox(): OpenSandbox | null {
    return this.#vm.running?.sandbox ?? null;
  }
  get calls(): readonly RunningCall[] {
    return this.#vm.running?.calls.running ?? [];
  }
  /** Since when its VM has nobody to run for (monotonic milliseconds); `null` when it has, or there is no VM. */
  get lingersSince(): number | null {
    return this.#linger.since;
  }
  /** Nothing of it is in this process. */
  get isIdle(): boolean {
    return this.#vm.running === null && !this.#vm.isChanging && this.#arrivals.size === 0;
  }

  /** Keeps the session from being suspended while a task comes to it; `onPlace` is told its place in the line. */
  hold(onPlace: (place: number) => void): () => void {
    const leave = this.#arrivals.add(onPlace);
    this.#linger.stop();
    return () => {
      leave();
      if (this.#arrivals.size > 0) return;
      this.#arrivals.cancel(new AppError('sandbox.cancelled', 'Nobody waits for this machine any more.'));
      this.#lingerIfFree();
    };
  }

  /** Has its VM running; who comes while it starts gets the same, or the same refusal. Within a `hold`. @throws AppError */
  ensureRunning(): Promise<Acquired> {
    return this.#vm.ensureRunning();
  }

  /** Writes a task's claim down. `gone`: the VM is not there any more. @throws AppError `sandbox.stale-fence` */
  async claim(caller: Caller): Promise<ClaimOutcome> {
    const { running } = this.#vm;
    if (running === null || running.isEnding) return 'gone';
    const outcome = await this.claims.put(caller);
    if (outcome !== 'claimed') return outcome;
    this.#linger.stop();
    if (this.#vm.running === running && !running.isEnding) return 'claimed';
    // It went while the claim was written; a claim that came after the others had ended ends here.
    await this.claims.remove(caller);
    return 'gone';
  }

  /** Takes up a VM that an earlier process of this host started, with the claims on it. */
  takeUp(up: UpVm): Promise<void> {
    return this.#vm.takeUp(up);
  }

  /**
   * Lets a task's claim go. Idempotent. `isBroken`: the VM is ended, whoever else holds it.
   * @throws AppError `sandbox.stale-fence`
   */
  async release(releaser: Releaser, isBroken: boolean): Promise<void> {
    await this.claims.remove(releaser);
    if (isBroken) await this.destroy('it was given up as broken');
    else this.#lingerIfFree();
  }

  /** Releases a claim that has made no call for long, unless it is making one. */
  async releaseIdle(taskId: string, reason: string): Promise<void> {
    if (!this.claims.mayRelease(taskId) || this.#isCalling(taskId)) return;
    if (await this.claims.remove({ taskId, fence: null })) this.claims.tell(taskId, 'released', reason);
    this.#lingerIfFree();
  }

  takeCallers(): { sessionId: string; taskId: string }[] {
    return this.claims.takeCallers((taskId) => this.#isCalling(taskId));
  }

  /**
   * Does `work` in the VM for a task that has a claim on it. `command`: what it runs, for people.
   * @throws GuestError `session-lost` without a claim or when the VM goes; AppError `sandbox.stale-fence`
   */
  async call<T>(
    caller: Caller,
    command: string | null,
    work: (agent: SessionAgent) => Promise<T>,
  ): Promise<T> {
    await this.claims.raise(caller);
    this.claims.use(caller);
    // A rotation is over soon; any other change ends the claim.
    await this.#vm.settled();
    this.claims.use(caller);
    const { running } = this.#vm;
    if (running === null || running.isEnding) throw sessionLost('it has ended');
    return running.calls.run({ taskId: caller.taskId, command }, () => work(running.agent));
  }

  /** Suspends it when nobody needs it: the lingering is over, or others want its room. */
  suspendIfFree(): Promise<void> {
    const [reason, isFree] = ['nobody needs it', () => this.#isFree] as const;
    if (this.#deps.policy.snapshotOnRelease) return this.#vm.suspend(reason, isFree);
    return this.#vm.end(reason, null, isFree);
  }

  /** Takes a snapshot and suspends it, whatever claims it has. */
  suspend(reason: string): Promise<void> {
    return this.#vm.suspend(reason);
  }

  /** Ends the VM; what is on the disk is kept, what is in memory is not. Idempotent. */
  destroy(reason: string): Promise<void> {
    this.#arrivals.cancel(new AppError('sandbox.destroyed', `The machine was ended: ${reason}.`));
    return this.#vm.end(reason, reason);
  }

  /** Removes all that is kept of it. Idempotent. */
  forget(): Promise<void> {
    this.#arrivals.cancel(new AppError('sandbox.destroyed', 'The machine was forgotten.'));
    return this.#vm.forget();
  }

  /** It is older than a session may be: it is suspended and restored between two calls. */
  rotateWhenQuiet(): void {
    this.#vm.rotateWhenQuiet();
  }

  /** Ends its VM in whatever change it is: for a host that cannot wait any longer. */
  endNow(): Promise<void> {
    return this.#vm.endNow();
  }

  /** Nobody gets it any more: a start that waits for room is given up. */
  cancelStart(): void {
    this.#arrivals.cancel(new AppError('sandbox.unavailable', 'The sandbox host stops.', { status: 503 }));
  }

  /** For a process that gives up or is no longer the host's: its VM is left as it is. */
  drop(): void {
    this.#linger.stop();
    this.cancelStart();
    this.#vm.drop();
  }

  async #loseClaims(reason: string): Promise<void> {
    const { all } = this.claims;
    this.claims.end('lost', reason);
    for (const claim of all)
      await this.claims.remove(claim).catch((error: unknown) => this.#log(error, 'a claim is left'));
    this.#lingerIfFree();
  }

  get #isFree(): boolean {
    return this.claims.size === 0 && this.#arrivals.size === 0;
  }

  #lingerIfFree(): void {
    this.#linger.stop();
    const { running } = this.#vm;
    if (running === null || running.isEnding || !this.#isFree) return;
    if (this.#deps.abandoned.aborted) return;
    const { policy, queue } = this.#deps;
    this.#linger.start(queue.waiting > 0 ? 0 : policy.lingerMs);
  }

  #isCalling(taskId: string): boolean {
    return this.calls.some((call) => call.taskId === taskId);
  }

  #log(error: unknown, what: string): void {
    this.#deps.logger.warn({ err: error, sandboxId: this.id }, what);
  }
}
