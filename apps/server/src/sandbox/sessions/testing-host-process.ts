import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../kernel/clock.ts';
import { openDatabase, type Database } from '../../kernel/database/database.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { QemuProvider } from '../providers/qemu/qemu-provider.ts';
import type { VmImage } from '../providers/sandbox-provider.ts';
import type { ClaimEnd, SessionPolicy } from './session-types.ts';
import { VmSessionManagerService } from './vm-session-manager-service.ts';

export interface QemuHostOptions {
  folder: string;
  image: VmImage;
  sizes: { memoryMib: number; cpus: number; diskGib: number };
  policy?: Partial<SessionPolicy>;
}

const LONG_MS = 3_600_000;
export const NOTHING = { packageRegistries: false, hosts: [] };

/** A host of real VMs. */
export function qemuHost(
  database: Database,
  { folder, image, sizes, policy }: QemuHostOptions,
  ends: ClaimEnd[] = [],
): { manager: VmSessionManagerService; provider: QemuProvider } {
  const provider = new QemuProvider({ root: folder, findImage: async () => image });
  const manager = new VmSessionManagerService({
    database,
    folder,
    provider,
    name: 'live',
    url: null,
    maxConcurrent: 3,
    usualTemplate: image.name,
    snapshotMaxAgeDays: 7,
    findImage: async () => image,
    sizesOf: async () => sizes,
    clock: systemClock,
    logger: silentLogger,
    events: { onClaimEnded: (end) => ends.push(end) },
    policy: {
      reuseActive: true,
      lingerMs: LONG_MS,
      snapshotOnRelease: true,
      maxLifetimeMs: LONG_MS,
      hardLifetimeMs: LONG_MS,
      ...policy,
    },
  });
  return { manager, provider };
}

/** A host in a process of its own, to be killed: acquires a machine for a user and does what it is told with it. */
export class HostProcess {
  readonly #child: ChildProcess;

  static async start(url: string, options: QemuHostOptions): Promise<HostProcess> {
    const child = fork(fileURLToPath(import.meta.url), [url, JSON.stringify(options)], { stdio: 'inherit' });
    await once(child, 'message');
    return new HostProcess(child);
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Begins to; what comes of it is seen in the database. */
  tell(what: 'acquire' | 'snapshot', userId: string, taskId: string): void {
    this.#child.send({ what, userId, taskId });
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

async function serve(url: string, options: QemuHostOptions): Promise<void> {
  const { manager } = qemuHost(openDatabase({ url }), options);
  await manager.start();
  process.on('message', (told: { what: 'acquire' | 'snapshot'; userId: string; taskId: string }) => {
    const { userId, taskId } = told;
    void (async () => {
      if (told.what === 'acquire')
        await manager.acquire({ taskId, userId, template: options.image.name, fence: 1, network: NOTHING });
      else for (const { id } of await manager.list(userId)) await manager.snapshot(id, userId);
    })();
  });
  process.send?.('ready');
}

const [, program, url, options] = process.argv;
if (program === fileURLToPath(import.meta.url) && url !== undefined && options !== undefined)
  await serve(url, JSON.parse(options) as QemuHostOptions);
