import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type {
  CreatedSandbox,
  SandboxCaller,
  SandboxInfo,
  UserSandbox,
  VmGuestSession,
} from '@vitto/contracts';
import { AppError, notFound } from '../../kernel/app-error.ts';
import { makePassable } from '../../kernel/database/local-postgres-owner.ts';
import { newId } from '../../kernel/ids.ts';
import type { AcquireRequest, Releaser } from '../host/sandbox-host.ts';
import { adoptMachines } from './adopt-machines.ts';
import { deleteClaim, listClaims } from './claim.store.ts';
import { claimedGuest } from './claimed-guest.ts';
import { describeMachine, describeUserSandbox } from './describe-machine.ts';
import { findMachineRow } from './find-machine-row.ts';
import { capacityByMemory, readHostId } from './host-identity.ts';
import { HostKeeper } from './host-keeper.ts';
import { HostQueue } from './host-queue.ts';
import { joinHost } from './lease.store.ts';
import { LiveSession } from './live-session.ts';
import { listMachines, readMachine, type MachineRow } from './machine.store.ts';
import { SeenFences } from './seen-fences.ts';
import type { OpenSandbox, SessionDeps } from './session-types.ts';
import { SessionAgent } from './session-agent.ts';
import { DISK_GONE, type MachineOwner } from './start-machine.ts';
import { listMachineFolders } from './sweep-machines.ts';
import { untilAborted } from './until-aborted.ts';

const BEAT_MS = 5_000;
/** How long VMs that are ended at a stop may take. */
const END_LIMIT_MS = 10_000;
const HOST_IS_FULL = 'All machines of this host are in use.';
const MACHINE_IS_TAKEN = 'Another task of yours has the machine.';
/** How often an acquire begins again whose machine went away under it. */
const TRIES = 5;

export interface SessionManagerOptions extends Omit<
  SessionDeps,
  'hostId' | 'holder' | 'queue' | 'abandoned' | 'machinesFolder' | 'connectAgent'
> {
  /** Folder of this host's machines, and of nothing else's. */
  folder: string;
  /** For people. */
  name: string;
  /** Where other servers reach this host; `null`: they do not. */
  url: string | null;
  /** VMs at the same time; `null`: by this machine's memory and the size of a VM of this template. */
  maxConcurrent: number | null;
  usualTemplate: string;
  /** Takes a stream that a guest opens (its way out, git). */
  onStream?: (of: MachineOwner, what: string, about: string, stream: Duplex) => void;
  /** For tests: how often leases are renewed. */
  beatMs?: number;
}

/**
 * The machines of this host's users (specification 02): gives each task that claims one the user's session, and keeps,
 * suspends and restores it. One process speaks for a host at a time; the latest one that was started.
 */
export class VmSessionManagerService {
  readonly #options: SessionManagerOptions;
  readonly #holder = newId();
  readonly #abandoned = new AbortController();
  readonly #fences = new SeenFences();
  readonly #sessions = new Map<string, LiveSession>();
  readonly #ready = Promise.withResolvers<SessionDeps>();
  #deps: SessionDeps | null = null;
  #isStopping = false;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();
  #keeper: HostKeeper | null = null;

  constructor(options: SessionManagerOptions) {
    this.#options = options;
    this.#ready.promise.catch(() => undefined);
  }

  /** Takes this host over from an earlier process, with what runs. @throws when the database or the folder cannot be used. */
  async start(): Promise<void> {
    try {
      this.#ready.resolve(await this.#join());
    } catch (error) {
      this.#ready.reject(error);
      throw error;
    }
    this.#timer = setInterval(() => void this.beat(), this.#options.beatMs ?? BEAT_MS);
    this.#timer.unref();
  }

  get hostId(): string {
    return this.#need().hostId;
  }
  get counts(): { running: number; waiting: number; maxConcurrent: number } {
    const { running, waiting, capacity } = this.#need().queue;
    return { running, waiting, maxConcurrent: capacity };
  }

  /** See `SandboxHost.acquire`. */
  async acquire(request: AcquireRequest): Promise<CreatedSandbox> {
    const deps = await this.#ready.promise;
    const began = deps.clock.monotonic();
    this.#refuseWhenStopped();
    this.#fences.note(request);
    await this.#refuseWithoutVms(deps);
    const notices: string[] = [];
    for (let tries = 1; ; tries += 1) {
      request.signal?.throwIfAborted();
      const session = this.#open(await findMachineRow(deps, request, notices));
      try {
        const acquired = await this.#come(session, request);
        if (acquired === null) continue;
        return {
          sandboxId: session.id,
          restored: acquired.origin === 'user-snapshot',
          from: acquired.origin,
          acquireTimeMs: Math.round(deps.clock.monotonic() - began),
          notices: [...notices, ...acquired.notices],
        };
      } catch (error) {
        if (tries === TRIES || !(await this.#mayTryAgain(session, error, notices))) throw error;
      } finally {
        this.#prune(session);
      }
    }
  }

  /** See `SandboxHost.release`. */
  async release(sandboxId: string, releaser: Releaser, how: { isBroken?: boolean } = {}): Promise<void> {
    const { database } = await this.#ready.promise;
    const { taskId, fence } = releaser;
    if (fence !== null) this.#fences.note({ taskId, fence });
    const session = this.#sessions.get(sandboxId);
    if (session === undefined) await deleteClaim(database, { sessionId: sandboxId, ...releaser });
    else await session.release(releaser, how.isBroken === true);
  }

  /** See `SandboxHost.guest`. */
  guest(sandboxId: string, caller: SandboxCaller): VmGuestSession {
    return claimedGuest(sandboxId, caller, () => this.#sessions.get(sandboxId) ?? null);
  }

  /** The VM of a user's machine that is up. @throws AppError `sandbox.not-found` when it is not */
  sandboxOf(sandboxId: string): OpenSandbox {
    const sandbox = this.#sessions.get(sandboxId)?.sandbox ?? null;
    if (sandbox === null) throw notFound('sandbox');
    return sandbox;
  }

  /** Has a user's machine running, and keeps it so until `letGo`: for people. @throws AppError as `acquire`, `sandbox.not-found` */
  async open(sandboxId: string, userId: string): Promise<{ sandbox: OpenSandbox; letGo: () => void }> {
    this.#refuseWhenStopped();
    const session = await this.#sessionOf(sandboxId, userId);
    if (session === null) throw notFound('sandbox');
    const letGo = session.hold(() => undefined);
    try {
      await session.ensureRunning();
      return { sandbox: this.sandboxOf(sandboxId), letGo };
    } catch (error) {
      letGo();
      throw error;
    }
  }

  /** See `SandboxHost.snapshot`. */
  async snapshot(sandboxId: string, userId: string): Promise<void> {
    const session = await this.#sessionOf(sandboxId, userId);
    if (session === null) throw notFound('sandbox');
    await session.suspend('a snapshot was asked for');
    this.#prune(session);
  }

  /** See `SandboxHost.destroy`. */
  async destroy(sandboxId: string, userId: string): Promise<void> {
    const session = await this.#sessionOf(sandboxId, userId);
    await session?.destroy('that was asked for');
    if (session !== null) this.#prune(session);
  }

  /** See `SandboxHost.forget`. */
  async forget(sandboxId: string, userId: string): Promise<void> {
    const session = await this.#sessionOf(sandboxId, userId);
    await session?.forget();
    if (session !== null) this.#prune(session);
  }

  async list(userId?: string): Promise<SandboxInfo[]> {
    const { database, hostId, clock, snapshotMaxAgeDays } = await this.#ready.promise;
    const rows = await listMachines(database, hostId, userId ?? null);
    const claims = Map.groupBy(await listClaims(database, hostId), (claim) => claim.sessionId);
    const facts = { now: clock.now(), snapshotMaxAgeDays };
    return Promise.all(
      rows.map((row) =>
        describeMachine(row, this.#sessions.get(row.id) ?? null, claims.get(row.id) ?? [], facts),
      ),
    );
  }

  async userSandbox(userId: string): Promise<UserSandbox> {
    const { database, hostId, clock } = await this.#ready.promise;
    const rows = await listMachines(database, hostId, userId);
    return describeUserSandbox(rows.find((row) => row.replacedAt === null) ?? null, clock.now());
  }

  /** Suspends all VMs; those that are not down after the limit are ended, their disks kept. */
  async stop(limitMs = 60_000): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#deps !== null) {
      const sessions = [...this.#sessions.values()];
      for (const session of sessions) session.cancelStart();
      await this.#within(limitMs, Promise.allSettled(sessions.map((one) => one.suspend('its host stops'))));
      const left = sessions.filter((session) => session.sandbox !== null);
      await this.#within(END_LIMIT_MS, Promise.allSettled(left.map((session) => session.endNow())));
    }
    await this.#beating;
    this.standBack();
  }

  /** Leaves everything as it is, as a process that dies does: another one speaks for this host. */
  standBack(): void {
    this.#isStopping = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#abandoned.abort(new AppError('sandbox.unavailable', 'Another process speaks for this host.'));
    for (const session of this.#sessions.values()) session.drop();
  }

  /** A sign of life, and what is due; see `HostKeeper`. */
  beat(): Promise<void> {
    const beating = this.#beating
      .then(async () => {
        if (this.#keeper === null || this.#abandoned.signal.aborted || (await this.#keeper.beat())) return;
        this.#options.logger.error('another process speaks for this sandbox host now');
        this.standBack();
      })
      .catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, 'a sandbox host could not give a sign of life');
      });
    this.#beating = beating;
    return beating;
  }

  async #join(): Promise<SessionDeps> {
    const { folder, name, url, database, provider, logger, maxConcurrent, onStream } = this.#options;
    const machinesFolder = join(folder, 'machines');
    makePassable(machinesFolder);
    const hostId = await readHostId(folder);
    const { memoryMib } = await this.#options.sizesOf(this.#options.usualTemplate);
    const queue = new HostQueue(maxConcurrent ?? capacityByMemory(memoryMib), () => this.#makeRoom());
    const deps: SessionDeps = {
      ...this.#options,
      hostId,
      machinesFolder,
      queue,
      holder: this.#holder,
      abandoned: this.#abandoned.signal,
      connectAgent: (vm, of) =>
        SessionAgent.open(vm, of.sandboxId, (what, about, stream) => {
          if (onStream === undefined) stream.destroy(new Error('not available'));
          else onStream(of, what, about, stream);
        }),
    };
    const host = { id: hostId, name, url, holder: this.#holder, provider: provider.name };
    const { isKnown } = await joinHost(database, { ...host, capacity: queue.capacity });
    this.#deps = deps;
    // Machines that this database has never heard of belong to another one: they are left alone.
    const maySweep = isKnown || (await listMachineFolders(machinesFolder)).length === 0;
    this.#keeper = new HostKeeper(
      deps,
      {
        all: () => [...this.#sessions.values()],
        has: (id) => this.#sessions.has(id),
        prune: (session) => this.#prune(session),
      },
      maySweep,
    );
    if (maySweep) await adoptMachines(deps, (row) => this.#open(row));
    else logger.error({ folder }, 'the machines here belong to another database; they are left alone');
    return deps;
  }

  /** Somebody waits: sessions that only linger give their room up, the one that has longest first. */
  #makeRoom(): void {
    const lingering = [...this.#sessions.values()]
      .filter((session) => session.lingersSince !== null)
      .sort((a, b) => (a.lingersSince ?? 0) - (b.lingersSince ?? 0));
    for (const session of lingering.slice(0, this.#need().queue.waiting)) {
      session.suspendIfFree().catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, 'an idle VM could not be suspended');
      });
    }
  }

  async #within(limitMs: number, work: Promise<unknown>): Promise<void> {
    const limit = new AbortController();
    await Promise.race([work, this.#options.clock.sleep(limitMs, limit.signal).catch(() => undefined)]);
    limit.abort();
  }

  /** Waits until the session runs and claims it; `null` when it went away in between. */
  async #come(
    session: LiveSession,
    request: AcquireRequest,
  ): Promise<Awaited<ReturnType<LiveSession['ensureRunning']>> | null> {
    const { taskId, signal, onWaiting } = request;
    const letGo = session.hold((place) => onWaiting?.({ place, reason: HOST_IS_FULL }));
    const tellTurn = (place: number): void => onWaiting?.({ place, reason: MACHINE_IS_TAKEN });
    try {
      for (;;) {
        await session.claims.waitForTurn(taskId, tellTurn, signal);
        const acquired = await untilAborted(session.ensureRunning(), signal);
        const outcome = await session.claim(request);
        if (outcome !== 'taken') return outcome === 'claimed' ? acquired : null;
      }
    } finally {
      letGo();
    }
  }

  async #mayTryAgain(session: LiveSession, error: unknown, notices: string[]): Promise<boolean> {
    if (!(error instanceof AppError)) return false;
    if (error.code === DISK_GONE) {
      await session.forget();
      notices.push('The disk of your machine was gone from its host. This is a new one.');
      return true;
    }
    // Forgotten by another request in the meantime.
    return error.code === 'sandbox.not-found';
  }

  async #sessionOf(sandboxId: string, userId: string): Promise<LiveSession | null> {
    const { database, hostId } = await this.#ready.promise;
    const row = await readMachine(database, sandboxId, hostId);
    return row === null || row.userId !== userId ? null : this.#open(row);
  }

  #open(row: MachineRow): LiveSession {
    const known = this.#sessions.get(row.id);
    if (known !== undefined) return known;
    const session = new LiveSession(this.#need(), row);
    this.#sessions.set(row.id, session);
    return session;
  }

  #prune(session: LiveSession): void {
    if (session.isIdle && this.#sessions.get(session.id) === session) this.#sessions.delete(session.id);
  }

  #need(): SessionDeps {
    if (this.#deps === null) throw new Error('the session manager has not been started');
    return this.#deps;
  }

  #refuseWhenStopped(): void {
    if (!this.#isStopping) return;
    throw new AppError('sandbox.unavailable', 'The sandbox host stops.', {
      status: 503,
      hint: 'Try again in a moment.',
    });
  }

  async #refuseWithoutVms(deps: SessionDeps): Promise<void> {
    const { available, reason, hint } = await deps.provider.health();
    if (available) return;
    throw new AppError('sandbox.unavailable', reason ?? 'No VM can be had here.', {
      status: 503,
      ...(hint === null ? {} : { hint }),
    });
  }
}
