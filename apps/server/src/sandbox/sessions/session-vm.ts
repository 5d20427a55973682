import type { SandboxOrigin } from '@vitto/contracts';
import { describeError, notFound } from '../../kernel/app-error.ts';
import type { MachineSnapshot } from '../providers/sandbox-provider.ts';
import { KeptMachine, type MachineEnd } from './kept-machine.ts';
import { Lane } from './lane.ts';
import { markSuspending, readMachine, type Held, type MachineRow } from './machine.store.ts';
import { RunningVm, type UpVm } from './running-vm.ts';
import type { ClaimEnd, SessionDeps } from './session-types.ts';
import { startMachine } from './start-machine.ts';

export interface Acquired {
  origin: SandboxOrigin;
  notices: string[];
}

/** What a session does when its VM comes and goes. */
export interface VmUsers {
  /** Waits for room on the host; the function gives it up. @throws when nobody wants the VM any more */
  enter: () => Promise<() => void>;
  onUp: () => void;
  /** It is about to be taken down. */
  onEnding: () => void;
  /** It is down for good, and the database knows. */
  onEnded: (how: ClaimEnd['how'], reason: string) => void;
  /** Another process has it now: what is known of it here is void. */
  onTakenOver: () => void;
  /** It came back from a rotation without its memory, or not at all; the claims are still written down. */
  onMemoryLost: (reason: string) => Promise<void>;
}

/**
 * The VM of one session: how it starts, is suspended, rotated and ended. Its changes of state happen one after the
 * other. The database decides what is; this follows it.
 */
export class SessionVm {
  readonly #deps: SessionDeps;
  readonly #held: Held;
  readonly #about: Pick<MachineRow, 'id' | 'userId' | 'template'>;
  readonly #users: VmUsers;
  readonly #kept: KeptMachine;
  readonly #lane = new Lane();
  #running: RunningVm | null = null;
  #starting: Promise<Acquired> | null = null;
  #isOld = false;

  constructor(
    deps: SessionDeps,
    held: Held,
    about: Pick<MachineRow, 'id' | 'userId' | 'template'>,
    users: VmUsers,
  ) {
    this.#deps = deps;
    this.#held = held;
    this.#about = about;
    this.#users = users;
    this.#kept = new KeptMachine(deps, held, about.userId);
  }

  /** `null`: none is up. */
  get running(): RunningVm | null {
    return this.#running;
  }
  get isChanging(): boolean {
    return this.#lane.isBusy;
  }

  /** Settles when it is not changing. */
  async settled(): Promise<void> {
    while (this.#lane.isBusy) await this.#lane.done;
  }

  /** Has it running; who comes while it starts gets the same, or the same refusal. @throws AppError */
  ensureRunning(): Promise<Acquired> {
    if (this.#starting !== null)
      return this.#starting.then(({ notices }) => ({ origin: 'session', notices }));
    const starting = this.#lane
      .run(async (): Promise<Acquired> => {
        // One that could not be ended must be gone before another may start.
        if (this.#running?.isEnding === true) await this.#end(this.#running, 'it was left', 'it was left');
        if (this.#running !== null) return { origin: 'session', notices: [] };
        return this.#start(null);
      })
      .finally(() => (this.#starting = null));
    this.#starting = starting;
    return starting;
  }

  /** Takes up one that an earlier process of this host started. */
  takeUp(up: UpVm): Promise<void> {
    return this.#lane.run(async () => this.#setUp(up, this.#deps.queue.enterRunning()));
  }

  /** Takes a snapshot and suspends it, if that is still wanted when its turn comes. */
  suspend(reason: string, isWanted: () => boolean = () => true): Promise<void> {
    return this.#lane.run(async () => {
      if (this.#running !== null && isWanted()) await this.#suspend(this.#running, reason, false);
    });
  }

  /** Ends it, if that is still wanted when its turn comes. `lostReason`: why what was in memory is gone, when anybody has to know. */
  end(reason: string, lostReason: string | null, isWanted: () => boolean = () => true): Promise<void> {
    return this.#lane.run(async () => {
      if (this.#running !== null && isWanted()) await this.#end(this.#running, reason, lostReason);
    });
  }

  /** Ends it and removes all that is kept of its machine. Idempotent. */
  forget(): Promise<void> {
    return this.#lane.run(async () => {
      if (this.#running !== null) await this.#end(this.#running, 'it was forgotten', 'it was forgotten');
      await this.#kept.remove();
    });
  }

  /** It is older than a session may be: it is suspended and restored between two calls. */
  rotateWhenQuiet(): void {
    this.#isOld = true;
    void this.#rotateIfQuiet();
  }

  /** Ends it in whatever change it is: for a host that cannot wait any longer. */
  async endNow(): Promise<void> {
    this.#running?.beginEnd('its host stops');
    const vmId = this.#running?.vm.id;
    if (vmId !== undefined) await this.#deps.provider.destroy(vmId);
    await this.#lane.done;
  }

  /** For a process that gives up or is no longer the host's: it is left as it is. */
  drop(): void {
    this.#running?.beginEnd('its host stops');
    this.#running?.agent.close();
    if (this.#running !== null) this.#deps.provider.letGo(this.#running.vm.id);
  }

  async #start(room: (() => void) | null): Promise<Acquired> {
    const { database, hostId, provider } = this.#deps;
    const leave = room ?? (await this.#users.enter());
    try {
      const row = await readMachine(database, this.#about.id, hostId);
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

  #setUp(up: UpVm, leave: () => void): void {
    const { events, connectAgent, abandoned } = this.#deps;
    const { id: sandboxId, userId, template } = this.#about;
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
    this.#users.onUp();
  }

  async #clearAway(running: RunningVm, reason: string): Promise<void> {
    await this.#lane
      .run(async () => {
        if (this.#running !== running || this.#deps.abandoned.aborted) return;
        await this.#end(running, reason, `it ended by itself (${reason})`);
      })
      .catch((error: unknown) => this.#log(error, 'a VM that ended could not be cleared away'));
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

  /** Down without a snapshot. */
  async #end(running: RunningVm, reason: string, lostReason: string | null): Promise<void> {
    if (!(await this.#takeDown(running, reason))) return;
    await this.#settle(running, { snapshot: null, lostReason, reason, isGoingOn: false });
  }

  /** False: it is another process's now, and was let go as it is. */
  async #takeDown(running: RunningVm, reason: string): Promise<boolean> {
    this.#users.onEnding();
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
    this.#users.onTakenOver();
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
    this.#users.onEnded(end.lostReason === null ? 'released' : 'lost', end.reason);
    running.leave();
  }

  async #rotateIfQuiet(): Promise<void> {
    if (!this.#isOld || this.#hasCalls) return;
    await this.#lane
      .run(async () => {
        const running = this.#running;
        if (!this.#isOld || running === null || this.#hasCalls) return;
        this.#isOld = false;
        if (!(await this.#suspend(running, 'it is rotated', true))) return;
        const { origin } = await this.#start(running.leave);
        if (origin !== 'user-snapshot')
          await this.#users.onMemoryLost('it could not be restored when it was rotated');
      })
      .catch(async (error: unknown) => {
        this.#log(error, 'a session could not be rotated');
        if (this.#running === null) this.#tellDown();
        await this.#users.onMemoryLost(
          `it did not start again when it was rotated (${describeError(error)})`,
        );
      });
  }

  get #hasCalls(): boolean {
    return (this.#running?.calls.running ?? []).length > 0;
  }

  #tellDown(): void {
    this.#deps.events.onDown?.({ sandboxId: this.#about.id, userId: this.#about.userId });
  }

  #log(error: unknown, what: string): void {
    this.#deps.logger.warn({ err: error, sandboxId: this.#about.id }, what);
  }
}
