import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database/database.ts';
import { createTestDatabase } from '../../kernel/database/testing.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import type { AcquireRequest } from '../host/sandbox-host.ts';
import { FakeGuest } from '../providers/fake/fake-guest.ts';
import { FakeHardware, FakeProvider } from '../providers/fake/fake-provider.ts';
import type { VmImage } from '../providers/sandbox-provider.ts';
import type { ClaimEnd, SessionPolicy } from './session-types.ts';
import { VmSessionManagerService, type SessionManagerOptions } from './vm-session-manager-service.ts';

export const IMAGE: VmImage = { name: 'minimal', hash: 'a'.repeat(64), folder: '/nowhere' };
const LONG_MS = 3_600_000;
const NOTHING = { packageRegistries: false, hosts: [] };

/** A host of fake VMs on a real database: its machines outlive its managers. */
export interface TestHost {
  hardware: FakeHardware;
  folder: string;
  /** What the managers told, in order. */
  ends: ClaimEnd[];
  manager: VmSessionManagerService;
  provider: FakeProvider;
  /** Another process of this host: the one before is gone as by a kill, unless it was stopped. */
  restart: (change?: Change) => Promise<void>;
  acquire: (
    userId: string,
    request?: Partial<AcquireRequest>,
  ) => ReturnType<VmSessionManagerService['acquire']>;
  release: (sandboxId: string, taskId: string, how?: { fence?: number; isBroken?: boolean }) => Promise<void>;
}
type Change = Partial<Omit<SessionManagerOptions, 'policy'>> & { policy?: Partial<SessionPolicy> };

export class SessionsHarness {
  readonly database: Database;
  readonly #drop: () => Promise<void>;
  readonly #hosts: TestHost[] = [];

  static async open(): Promise<SessionsHarness> {
    const { database, drop } = await createTestDatabase();
    return new SessionsHarness(database, drop);
  }

  private constructor(database: Database, drop: () => Promise<void>) {
    this.database = database;
    this.#drop = drop;
  }

  async addUser(): Promise<string> {
    const id = newId();
    await this.query("insert into vitto_users (id, name, role) values ($1, 'Ana', 'owner')", [id]);
    return id;
  }

  async query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.database.pool.query(text, values)).rows as Record<string, unknown>[];
  }

  async addHost(change: Change = {}): Promise<TestHost> {
    const hardware = new FakeHardware();
    hardware.baseSnapshots.set(IMAGE.hash, new FakeGuest());
    const folder = change.folder ?? (await mkdtemp(join(tmpdir(), 'vitto-sessions-')));
    const ends: ClaimEnd[] = [];
    const make = (more: Change) => {
      const provider = new FakeProvider({ hardware });
      const manager = new VmSessionManagerService(
        optionsOf({ ...change, ...more }, { database: this.database, folder, provider, ends }),
      );
      return { provider, manager };
    };
    const host: TestHost = {
      hardware,
      folder,
      ends,
      ...make({}),
      restart: async (more = {}) => {
        host.manager.standBack();
        Object.assign(host, make(more));
        await host.manager.start();
      },
      acquire: (userId, request = {}) =>
        host.manager.acquire({
          taskId: newId(),
          userId,
          template: 'minimal',
          fence: 1,
          network: NOTHING,
          ...request,
        }),
      release: (sandboxId, taskId, { fence = 1, ...how } = {}) =>
        host.manager.release(sandboxId, { taskId, fence }, how),
    };
    this.#hosts.push(host);
    await host.manager.start();
    return host;
  }

  async machine(userId: string): Promise<Record<string, unknown>> {
    return (await this.query('select * from vitto_vm_sessions where user_id = $1', [userId]))[0] ?? {};
  }

  async close(): Promise<void> {
    for (const { manager, folder } of this.#hosts) {
      manager.standBack();
      await rm(folder, { recursive: true, force: true });
    }
    await this.#drop();
  }
}

function optionsOf(
  { policy, ...change }: Change,
  own: { database: Database; folder: string; provider: FakeProvider; ends: ClaimEnd[] },
): SessionManagerOptions {
  const { ends, ...rest } = own;
  return {
    ...rest,
    name: 'test',
    url: null,
    maxConcurrent: 50,
    usualTemplate: 'minimal',
    beatMs: LONG_MS,
    snapshotMaxAgeDays: 7,
    findImage: async () => IMAGE,
    sizesOf: async () => ({ memoryMib: 512, cpus: 1, diskGib: 4 }),
    clock: systemClock,
    logger: silentLogger,
    events: { onClaimEnded: (end) => ends.push(end) },
    ...change,
    policy: {
      reuseActive: true,
      lingerMs: LONG_MS,
      snapshotOnRelease: true,
      maxLifetimeMs: LONG_MS,
      hardLifetimeMs: LONG_MS,
      ...policy,
    },
  };
}
