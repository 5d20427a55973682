import type { CreatedSandbox, NetworkPolicy, VmGuestSession } from '@vitto/contracts';
import { systemClock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import type { QemuUnderTest } from '../providers/qemu/testing-qemu.ts';
import type { VmSizes } from '../sessions/start-machine.ts';
import { LocalSandboxHost, type LocalSandboxHostOptions } from './local-sandbox-host.ts';

const LONG_MS = 3_600_000;
const SIZES = { memoryMib: 512, cpus: 1, diskGib: 4 };
const NOTHING: NetworkPolicy = { packageRegistries: false, hosts: [] };

export interface Acquired extends CreatedSandbox {
  userId: string;
  taskId: string;
  guest: VmGuestSession;
  /** Runs a command; what it printed, both streams, and how it ended. */
  sh: (command: string, timeoutMs?: number) => Promise<{ code: number | null; text: string }>;
}

/** A real host with real VMs: sessions last until they are ended. */
export class RealHost {
  readonly host: LocalSandboxHost;
  readonly #database: Database;
  readonly #qemu: QemuUnderTest;

  constructor(
    qemu: QemuUnderTest,
    database: Database,
    { sizes = SIZES, ...more }: Partial<LocalSandboxHostOptions> & { sizes?: VmSizes } = {},
  ) {
    this.#qemu = qemu;
    this.#database = database;
    const { image } = qemu;
    this.host = new LocalSandboxHost({
      database,
      folder: qemu.root,
      provider: qemu.open(),
      name: 'real',
      url: null,
      maxConcurrent: 4,
      usualTemplate: image.name,
      snapshotMaxAgeDays: 7,
      images: {
        find: async () => image,
        list: async () => [],
        build: () => Promise.reject(new Error('not here')),
      },
      sizesOf: async () => sizes,
      clock: systemClock,
      logger: silentLogger,
      policyOf: async () => NOTHING,
      policy: {
        reuseActive: true,
        lingerMs: LONG_MS,
        snapshotOnRelease: true,
        maxLifetimeMs: LONG_MS,
        hardLifetimeMs: LONG_MS,
      },
      ...more,
    });
  }

  async addUser(): Promise<string> {
    const id = newId();
    await this.#database.pool.query("insert into vitto_users (id, name, role) values ($1, 'Ana', 'member')", [
      id,
    ]);
    return id;
  }

  /** A machine of a user, by default of a new one. */
  async acquire(of: { userId?: string; network?: NetworkPolicy } = {}): Promise<Acquired> {
    const userId = of.userId ?? (await this.addUser());
    const taskId = newId();
    const template = this.#qemu.image.name;
    const network = of.network ?? NOTHING;
    const created = await this.host.acquire({ taskId, userId, template, fence: 1, network });
    const guest = this.host.guest(created.sandboxId, { taskId, fence: 1 });
    const sh: Acquired['sh'] = async (command, timeoutMs = 120_000) => {
      const { stdout, stderr, exitCode } = await guest.exec({ command, timeoutMs });
      return { code: exitCode, text: `${stdout.text}${stderr.text}` };
    };
    return { ...created, userId, taskId, guest, sh };
  }
}
