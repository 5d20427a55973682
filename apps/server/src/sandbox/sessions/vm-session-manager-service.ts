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
import { acquireSession } from './acquire-session.ts';
import { adoptMachines } from './adopt-machines.ts';
import { deleteClaim, listClaims } from './claim.store.ts';
import { claimedGuest } from './claimed-guest.ts';
import { describeMachine, describeUserSandbox } from './describe-machine.ts';
import { capacityByMemory, readHostId } from './host-identity.ts';
import { HostKeeper } from './host-keeper.ts';
import { HostQueue } from './host-queue.ts';
import { joinHost } from './lease.store.ts';
import { listMachines } from './machine.store.ts';
import { SeenFences } from './seen-fences.ts';
import { SessionTable } from './session-table.ts';
import type { OpenSandbox, SessionDeps } from './session-types.ts';
import { SessionAgent } from './session-agent.ts';
import type { MachineOwner } from './start-machine.ts';
import { listMachineFolders } from './sweep-machines.ts';

const BEAT_MS = 5_000;
/** How long VMs that are ended at a stop may take. */
const END_LIMIT_MS = 10_000;

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

/** What there is once this process speaks for its host. */
interface Joined {
  deps: SessionDeps;
  table: SessionTable;
  keeper: HostKeeper;
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
  readonly #ready = Promise.withResolvers<Joined>();
  #joined: Joined | null = null;
  #isStopping = false;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> = Promise.resolve();

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
    return this.#need().deps.hostId;
  }
  get counts(): { running: number; waiting: number; maxConcurrent: number } {
    const { running, waiting, capacity } = this.#need().deps.queue;
    return { running, waiting, maxConcurrent: capacity };
  }

  /** See `SandboxHost.acquire`. */
  async acquire(request: AcquireRequest): Promise<CreatedSandbox> {
    const { deps, table } = await this.#ready.promise;
    this.#refuseWhenStopped();
    this.#fences.note(request);
    return acquireSession(deps, table, request);
  }

  /** See `SandboxHost.release`. */
  async release(sandboxId: string, releaser: Releaser, how: { isBroken?: boolean } = {}): Promise<void> {
    const { deps, table } = await this.#ready.promise;
    const { taskId, fence } = releaser;
    if (fence !== null) this.#fences.note({ taskId, fence });
    const session = table.find(sandboxId);
    if (session === null) await deleteClaim(deps.database, { sessionId: sandboxId, ...releaser });
    else await session.release(releaser, how.isBroken === true);
  }

  /** See `SandboxHost.guest`. */
  guest(sandboxId: string, caller: SandboxCaller): VmGuestSession {
    return claimedGuest(sandboxId, caller, () => this.#joined?.table.find(sandboxId) ?? null);
  }

  /** The VM of a user's machine that is up. @throws AppError `sandbox.not-found` when it is not */
  sandboxOf(sandboxId: string): OpenSandbox {
    const sandbox = this.#joined?.table.find(sandboxId)?.sandbox ?? null;
    if (sandbox === null) throw notFound('sandbox');
    return sandbox;
  }

  /** Has a user's machine running, and keeps it so until `letGo`: for people. @throws AppError as `acquire`, `sandbox.not-found` */
  async open(sandboxId: string, userId: string): Promise<{ sandbox: OpenSandbox; letGo: () => void }> {
    this.#refuseWhenStopped();
    const { table } = await this.#ready.promise;
    const session = await table.openOf(sandboxId, userId);
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
    const { table } = await this.#ready.promise;
    const session = await table.openOf(sandboxId, userId);
    if (session === null) throw notFound('sandbox');
    await session.suspend('a snapshot was asked for');
    table.prune(session);
  }

  /** See `SandboxHost.destroy`. */
  async destroy(sandboxId: string, userId: string): Promise<void> {
    const { table } = await this.#ready.promise;
    const session = await table.openOf(sandboxId, userId);
    await session?.destroy('that was asked for');
    if (session !== null) table.prune(session);
  }

  /** See `SandboxHost.forget`. */
  async forget(sandboxId: string, userId: string): Promise<void> {
    const { table } = await this.#ready.promise;
    const session = await table.openOf(sandboxId, userId);
    await session?.forget();
    if (session !== null) table.prune(session);
  }

  async list(userId?: string): Promise<SandboxInfo[]> {
    const { deps, table } = await this.#ready.promise;
    const { database, hostId, clock, snapshotMaxAgeDays } = deps;
    const rows = await listMachines(database, hostId, userId ?? null);
    const claims = Map.groupBy(await listClaims(database, hostId), (claim) => claim.sessionId);
    const facts = { now: clock.now(), snapshotMaxAgeDays };
    return Promise.all(
      rows.map((row) => describeMachine(row, table.find(row.id), claims.get(row.id) ?? [], facts)),
    );
  }

  async userSandbox(userId: string): Promise<UserSandbox> {
    const { database, hostId, clock } = (await this.#ready.promise).deps;
    const rows = await listMachines(database, hostId, userId);
    return describeUserSandbox(rows.find((row) => row.replacedAt === null) ?? null, clock.now());
  }

  /** Suspends all VMs; those that are not down after the limit are ended, their disks kept. */
  async stop(limitMs = 60_000): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#joined !== null) {
      const sessions = this.#joined.table.all;
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
    for (const session of this.#joined?.table.all ?? []) session.drop();
  }

  /** A sign of life, and what is due; see `HostKeeper`. */
  beat(): Promise<void> {
    const beating = this.#beating
      .then(async () => {
        if (this.#joined === null || this.#abandoned.signal.aborted) return;
        if (await this.#joined.keeper.beat()) return;
        this.#options.logger.error('another process speaks for this sandbox host now');
        this.standBack();
      })
      .catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, 'a sandbox host could not give a sign of life');
      });
    this.#beating = beating;
    return beating;
  }

  async #join(): Promise<Joined> {
    const { folder, name, url, database, provider, logger, maxConcurrent, onStream } = this.#options;
    const machinesFolder = join(folder, 'machines');
    makePassable(machinesFolder);
    const hostId = await readHostId(folder);
    const { memoryMib } = await this.#options.sizesOf(this.#options.usualTemplate);
    const queue = new HostQueue(maxConcurrent ?? capacityByMemory(memoryMib), () => table.makeRoom());
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
    const table = new SessionTable(deps);
    const { isKnown } = await joinHost(database, { ...host, capacity: queue.capacity });
    // Machines that this database has never heard of belong to another one: they are left alone.
    const maySweep = isKnown || (await listMachineFolders(machinesFolder)).length === 0;
    const joined = { deps, table, keeper: new HostKeeper(deps, table, maySweep) };
    this.#joined = joined;
    if (maySweep) await adoptMachines(deps, (row) => table.open(row));
    else logger.error({ folder }, 'the machines here belong to another database; they are left alone');
    return joined;
  }

  async #within(limitMs: number, work: Promise<unknown>): Promise<void> {
    const limit = new AbortController();
    await Promise.race([work, this.#options.clock.sleep(limitMs, limit.signal).catch(() => undefined)]);
    limit.abort();
  }

  #need(): Joined {
    if (this.#joined === null) throw new Error('the session manager has not been started');
    return this.#joined;
  }

  #refuseWhenStopped(): void {
    if (!this.#isStopping) return;
    throw new AppError('sandbox.unavailable', 'The sandbox host stops.', {
      status: 503,
      hint: 'Try again in a moment.',
    });
  }
}
