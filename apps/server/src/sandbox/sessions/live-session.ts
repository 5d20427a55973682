import type { SandboxOrigin } from '@vitto/contracts';
import { AppError, describeError, notFound } from '../../kernel/app-error.ts';
import type { Releaser } from '../host/sandbox-host.ts';
import type { MachineSnapshot } from '../providers/sandbox-provider.ts';
import { KeptMachine, type MachineEnd } from './kept-machine.ts';
import { Linger } from './linger.ts';
import { markSuspending, readMachine, type Held, type MachineRow } from './machine.store.ts';
import { RunningVm, type UpVm } from './running-vm.ts';
import type { SessionAgent } from './session-agent.ts';
import { sessionLost, type RunningCall } from './session-calls.ts';
import { SessionClaims, type Caller, type ClaimOutcome } from './session-claims.ts';
import type { OpenSandbox, SessionDeps } from './session-types.ts';
import { startMachine } from './start-machine.ts';

export interface Acquired {
  origin: SandboxOrigin;
  notices: string[];
}

/**
 * One user's machine in this process: its VM while it runs, the claims on it, and the changes from one state to the
 * next, which happen one after the other. The database decides what is; this follows it.
 */
export class LiveSession {
  readonly id: string;
  readonly userId: string;
  readonly template: string;
  readonly claims: SessionClaims;
  readonly #deps: SessionDeps;
  readonly #held: Held;
  /** Tasks that are on their way to a claim, and want to know their place in the line. */
  readonly #coming = new Set<(place: number) => void>();
  /** In the line before the host, while its start waits there. */
  #place: number | null = null;
  #running: RunningVm | null = null;
  #starting: Promise<Acquired> | null = null;
  #lane: Promise<unknown> = Promise.resolve();
  #changes = 0;
  readonly #kept: KeptMachine;
  readonly #linger: Linger;
  #isOld = false;
  /** Aborts the waiting for room of a start that nobody wants any more. */
  #wanted = new AbortController();

  constructor(deps: SessionDeps, row: Pick<MachineRow, 'id' | 'userId' | 'template'>) {
    this.id = row.id;
    this.userId = row.userId;
    this.template = row.template;
    this.#deps = deps;
    this.#held = { id: row.id, hostId: deps.hostId, holder: deps.holder };
    this.claims = new SessionClaims(deps, this.#held, row.userId);
    this.#kept = new KeptMachine(deps, this.#held, row.userId);
    this.#linger = new Linger(deps.clock, () => {
      this.suspendIfFree().catch((error: unknown) => this.#log(error, 'an idle VM was not suspended'));
    });
  }

  /** The VM that is up; `null` when there is none. */
  get sandbox(): OpenSandbox | null {
    return this.#running?.sandbox ?? null;
  }
  get calls(): readonly RunningCall[] {
    return this.#running?.calls.running ?? [];
  }
  /** Since when its VM has nobody to run for (monotonic milliseconds); `null` when it has, or there is no VM. */
  get lingersSince(): number | null {
    return this.#linger.since;
  }
  /** Nothing of it is in this process. */
  get isIdle(): boolean {
    return this.#running === null && this.#changes === 0 && this.#coming.size === 0;
  }

  /** Keeps the session from being suspended while a task comes to it; `onPlace` is told its place in the line. */
  hold(onPlace: (place: number) => void): () => void {
    const coming = (place: number): void => onPlace(place);
    this.#coming.add(coming);
    this.#linger.stop();
    if (this.#place !== null) onPlace(this.#place);
    return () => {
      this.#coming.delete(coming);
      if (this.#coming.size > 0) return;
      this.#cancelStart(new AppError('sandbox.cancelled', 'Nobody waits for this machine any more.'));
      this.#lingerIfFree();
    };
  }

  /** Has its VM running; who comes while it starts gets the same, or the same refusal. Within a `hold`. @throws AppError */
  ensureRunning(): Promise<Acquired> {
    if (this.#starting !== null)
      return this.#starting.then(({ notices }) => ({ origin: 'session', notices }));
    const starting = this.#change(async (): Promise<Acquired> => {
      // One that could not be ended must be gone before another may start.
      if (this.#running?.isEnding === true) await this.#end(this.#running, 'it was left', 'it was left');
      if (this.#running !== null) return { origin: 'session', notices: [] };
      return this.#start(null);
    }).finally(() => (this.#starting = null));
    this.#starting = starting;
    return starting;
  }

  /** Writes a task's claim down. `gone`: the VM is not there any more. @throws AppError `sandbox.stale-fence` */
  async claim(caller: Caller): Promise<ClaimOutcome> {
    const running = this.#running;
    if (running === null || running.isEnding) return 'gone';
    const outcome = await this.claims.put(caller);
    if (outcome !== 'claimed') return outcome;
    this.#linger.stop();
    if (this.#running === running && !running.isEnding) return 'claimed';
    // It went while the claim was written; a claim that came after the others had ended ends here.
    await this.claims.remove(caller);
    return 'gone';
  }

  /** Takes up a VM that an earlier process of this host started, with the claims on it. */
  takeUp(up: UpVm): Promise<void> {
    return this.#change(async () => this.#setUp(up, this.#deps.queue.enterRunning()));
  }

  /** Lets a task's claim go. Idempotent. `isBroken`: the VM is ended, whoever else holds it. */
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
    while (this.#changes > 0) await this.#lane;
    this.claims.use(caller);
    const running = this.#running;
    if (running === null || running.isEnding) throw sessionLost('it has ended');
    return running.calls.run({ taskId: caller.taskId, command }, () => work(running.agent));
  }

  /** Suspends it when nobody needs it: the lingering is over, or others want its room. */
  suspendIfFree(): Promise<void> {
    return this.#change(async () => {
      if (this.#running === null || !this.#isFree) return;
      if (this.#deps.policy.snapshotOnRelease) await this.#suspend(this.#running, 'nobody needs it', false);
      else await this.#end(this.#running, 'nobody needs it', null);
    });
  }

  /** Takes a snapshot and suspends it, whatever claims it has. */
  suspend(reason: string): Promise<void> {
    return this.#change(async () => {
      if (this.#running !== null) await this.#suspend(this.#running, reason, false);
    });
  }

  /** Ends the VM; what is on the disk is kept, what is in memory is not. Idempotent. */
  destroy(reason: string): Promise<void> {
    this.#cancelStart(new AppError('sandbox.destroyed', `The machine was ended: ${reason}.`));
    return this.#change(async () => {
      if (this.#running !== null) await this.#end(this.#running, reason, reason);
    });
  }

  /** Removes all that is kept of it. Idempotent. */
  forget(): Promise<void> {
    this.#cancelStart(new AppError('sandbox.destroyed', 'The machine was forgotten.'));
    return this.#change(async () => {
      if (this.#running !== null) await this.#end(this.#running, 'it was forgotten', 'it was forgotten');
      await this.#kept.remove();
    });
  }

  /** It is older than a session may be: it is suspended and restored between two calls. */
  rotateWhenQuiet(): void {
    this.#isOld = true;
    void this.#rotateIfQuiet();
  }

  /** Ends its VM in whatever change it is: for a host that cannot wait any longer. */
  async endNow(): Promise<void> {
    this.#running?.beginEnd('its host stops');
    const vmId = this.#running?.vm.id;
    if (vmId !== undefined) await this.#deps.provider.destroy(vmId);
    await this.#lane;
  }

  /** Nobody gets it any more: a start that waits for room is given up. */
  cancelStart(): void {
    this.#cancelStart(new AppError('sandbox.unavailable', 'The sandbox host stops.', { status: 503 }));
  }

  /** For a process that gives up or is no longer the host's: its VM is left as it is. */
  drop(): void {
    this.#linger.stop();
    this.cancelStart();
    this.#running?.beginEnd('its host stops');
    this.#running?.agent.close();
  }

  async #start(room: (() => void) | null): Promise<Acquired> {
    const { database, hostId, provider } = this.#deps;
    const leave = room ?? (await this.#enter());
    try {
      const row = await readMachine(database, this.id, hostId);
      if (row === null || row.replacedAt !== null) throw notFound('sandbox');
      // What could not be settled when this process started.
      if (row.vmId !== null && room === null) await provider.destroy(row.vmId);
      const started = await startMachine(this.#deps, this.#held, row).catch(async (error: unknown) => {
        await this.#kept.settleFailedStart(row);
        throw error;
      });
      this.#setUp(started, leave);
      return started;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #enter(): Promise<() => void> {
    const onPlace = (place: number): void => {
      this.#place = place;
      for (const tell of this.#coming) tell(place);
    };
    try {
      return await this.#deps.queue.enter(this.userId, { onPlace, signal: this.#wanted.signal });
    } finally {
      this.#place = null;
    }
  }

  #setUp(up: UpVm, leave: () => void): void {
    const { events, connectAgent, abandoned } = this.#deps;
    const { id: sandboxId, userId, template } = this;
    const running: RunningVm = new RunningVm(up, { sandboxId, userId, template }, leave, {
      onGone: (reason) => void this.#clearAway(running, reason),
      onReconnected: () => events.onUp?.(running.sandbox),
      onQuiet: () => void this.#rotateIfQuiet(),
      connectAgent: async (vm) => {
        // Another process that has taken the VM over is why the channel ended.
        if (await this.#kept.isTakenOver(running.vm.id)) throw new Error('another process has it');
        return connectAgent(vm, { sandboxId, userId });
      },
    });
    this.#running = running;
    this.#isOld = false;
    if (!abandoned.aborted) events.onUp?.(running.sandbox);
    this.#lingerIfFree();
  }

  async #clearAway(running: RunningVm, reason: string): Promise<void> {
    await this.#change(async () => {
      if (this.#running !== running || this.#deps.abandoned.aborted) return;
      await this.#end(running, reason, `it ended by itself (${reason})`);
    }).catch((error: unknown) => this.#log(error, 'a VM that ended could not be cleared away'));
  }

  /** Down with a snapshot. Where none can be taken, the VM has ended all the same and its disk is kept. */
  async #suspend(running: RunningVm, reason: string, isRotation: boolean): Promise<boolean> {
    if (!(await this.#takeDown(running, reason))) return false;
    let snapshot: MachineSnapshot | null = null;
    let lostReason: string | null = null;
    try {
      snapshot = await this.#deps.provider.suspend(running.vm);
    } catch (error) {
      lostReason = `its snapshot could not be taken (${describeError(error)})`;
      this.#log(error, 'a VM was suspended without a snapshot');
    }
    const isGoingOn = isRotation && lostReason === null;
    await this.#settle(running, { snapshot, lostReason, reason, isGoingOn });
    return isGoingOn;
  }

  /** Down without a snapshot. `lostReason`: why what was in memory is gone, when anybody has to know. */
  async #end(running: RunningVm, reason: string, lostReason: string | null): Promise<void> {
    if (!(await this.#takeDown(running, reason))) return;
    await this.#settle(running, { snapshot: null, lostReason, reason, isGoingOn: false });
  }

  /** False: it is another process's now, and was let go as it is. */
  async #takeDown(running: RunningVm, reason: string): Promise<boolean> {
    this.#linger.stop();
    running.beginEnd(reason);
    try {
      const isHeld = await markSuspending(this.#deps.database, this.#held);
      if (!isHeld && (await this.#kept.isTakenOver(running.vm.id))) {
        this.#letGo(running);
        return false;
      }
    } catch (error) {
      this.#log(error, 'that a VM is taken down could not be written');
    }
    await running.sync(this.#deps.clock);
    running.agent.close();
    return true;
  }

  #letGo(running: RunningVm): void {
    running.agent.close();
    this.#running = null;
    this.claims.clear();
    this.#tellDown();
    running.leave();
  }

  async #settle(running: RunningVm, end: MachineEnd & { reason: string }): Promise<void> {
    const { provider, abandoned } = this.#deps;
    if (abandoned.aborted) return;
    // Also clears away what is left of one that has ended.
    await provider.destroy(running.vm.id);
    this.#running = null;
    await this.#kept.writeEnd(end);
    if (end.isGoingOn) return;
    this.#tellDown();
    this.claims.end(end.lostReason === null ? 'released' : 'lost', end.reason);
    running.leave();
  }

  async #rotateIfQuiet(): Promise<void> {
    if (!this.#isOld || this.calls.length > 0) return;
    await this.#change(async () => {
      const running = this.#running;
      if (!this.#isOld || running === null || this.calls.length > 0) return;
      this.#isOld = false;
      if (!(await this.#suspend(running, 'it is rotated', true))) return;
      const { origin } = await this.#start(running.leave);
      if (origin !== 'user-snapshot') await this.#loseClaims('it could not be restored when it was rotated');
    }).catch(async (error: unknown) => {
      this.#log(error, 'a session could not be rotated');
      if (this.#running === null) this.#tellDown();
      await this.#loseClaims(`it did not start again when it was rotated (${describeError(error)})`);
    });
  }

  async #loseClaims(reason: string): Promise<void> {
    const { all } = this.claims;
    this.claims.end('lost', reason);
    for (const claim of all)
      await this.claims.remove(claim).catch((error: unknown) => this.#log(error, 'a claim is left'));
    this.#lingerIfFree();
  }

  #tellDown(): void {
    this.#deps.events.onDown?.({ sandboxId: this.id, userId: this.userId });
  }

  get #isFree(): boolean {
    return this.claims.size === 0 && this.#coming.size === 0;
  }

  #lingerIfFree(): void {
    this.#linger.stop();
    if (this.#running === null || this.#running.isEnding || !this.#isFree) return;
    if (this.#deps.abandoned.aborted) return;
    const { policy, queue } = this.#deps;
    this.#linger.start(queue.waiting > 0 ? 0 : policy.lingerMs);
  }

  #cancelStart(reason: AppError): void {
    this.#wanted.abort(reason);
    this.#wanted = new AbortController();
  }

  #isCalling(taskId: string): boolean {
    return this.calls.some((call) => call.taskId === taskId);
  }

  #log(error: unknown, what: string): void {
    this.#deps.logger.warn({ err: error, sandboxId: this.id }, what);
  }

  /** One change after the other. What comes after one that failed begins all the same. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    this.#changes += 1;
    const done = this.#lane.then(work).finally(() => (this.#changes -= 1));
    this.#lane = done.catch(() => undefined);
    return done;
  }
}
