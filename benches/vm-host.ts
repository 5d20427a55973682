import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { NetworkPolicy, SandboxOrigin, VmGuestSession } from '@vitto/contracts';
import { createSandboxServer } from '../apps/server/src/app/http/create-sandbox-server.ts';
import { systemClock } from '../apps/server/src/kernel/clock.ts';
import { openDatabase } from '../apps/server/src/kernel/database/database.ts';
import { migrateDatabase } from '../apps/server/src/kernel/database/migrate.ts';
import { newId } from '../apps/server/src/kernel/ids.ts';
import { silentLogger } from '../apps/server/src/kernel/logger.ts';
import { LocalSandboxHost } from '../apps/server/src/sandbox/host/local-sandbox-host.ts';
import type { SandboxHost } from '../apps/server/src/sandbox/host/sandbox-host.ts';
import { VmApiClientService } from '../apps/server/src/sandbox/host/vm-api-client-service.ts';
import { ImageStore } from '../apps/server/src/sandbox/images/image-store.ts';
import { QemuProvider } from '../apps/server/src/sandbox/providers/qemu/qemu-provider.ts';
import { linkImage } from '../apps/server/src/sandbox/providers/qemu/testing-qemu.ts';
import type { VmImage } from '../apps/server/src/sandbox/providers/sandbox-provider.ts';

export const SIZES = { memoryMib: 512, cpus: 2, diskGib: 4 };
const NETWORK: NetworkPolicy = { packageRegistries: false, hosts: [] };
const LONG_MS = 3_600_000;
const TOKEN = 'the-token-of-this-bench-alone';
/** The same image under another name, without its base snapshot: machines of it boot. */
export const BARE = 'bare';

/** A user's machine that runs, as one task has it. */
export interface BenchMachine {
  userId: string;
  taskId: string;
  sandboxId: string;
  from: SandboxOrigin;
  guest: VmGuestSession;
  /** From the call for it to the end of the first command, in milliseconds. */
  firstExecMs: number;
}

export interface BenchHost {
  host: SandboxHost;
  /** The same host over its HTTP API, on loopback. */
  remote: SandboxHost;
  accelerator: string;
  version: string;
  image: VmImage;
  /** What is there of machines: processes, folders, rows, open files of this process. */
  count: () => Promise<{ vms: number; folders: number; sessions: number; claims: number; files: number }>;
  addUser: () => Promise<string>;
  start: (template: string, userId?: string) => Promise<BenchMachine>;
  close: () => Promise<void>;
}

/** A real sandbox host: sessions, claims and leases on PostgreSQL, VMs by QEMU, its API over HTTP. @throws without an image */
export async function openBenchHost(databaseUrl: string, folder: string): Promise<BenchHost> {
  const [image] = await new ImageStore(process.env['VITTO_IMAGES'] ?? '/var/cache/vitto/images').list(
    'minimal',
  );
  if (image === undefined) throw new Error('build the image first: npm run vitto -- image build minimal');
  const bare = { ...(await linkImage(image, join(folder, 'bare-image'))), name: BARE };
  await migrateDatabase(databaseUrl);
  const database = openDatabase({ url: databaseUrl, applicationName: 'vitto-bench-vm' });
  const provider = new QemuProvider({ root: join(folder, 'vm'), findImage: async () => image });
  const host = new LocalSandboxHost({
    database,
    folder: join(folder, 'vm'),
    provider,
    name: 'bench',
    url: null,
    maxConcurrent: 8,
    usualTemplate: image.name,
    snapshotMaxAgeDays: 7,
    images: {
      find: async (name) => (name === BARE ? bare : image),
      list: async () => [],
      build: () => Promise.reject(new Error('not here')),
    },
    sizesOf: async () => SIZES,
    clock: systemClock,
    logger: silentLogger,
    policyOf: async () => NETWORK,
    policy: {
      reuseActive: true,
      lingerMs: LONG_MS,
      snapshotOnRelease: true,
      maxLifetimeMs: LONG_MS,
      hardLifetimeMs: LONG_MS,
    },
  });
  await host.start();
  const base = { vmId: newId(), machineFolder: join(folder, 'vm', 'base'), image, ...SIZES, userNumber: 0 };
  await provider.makeBaseSnapshot(base);
  const server = await createSandboxServer({ host, token: TOKEN, database, logger: silentLogger });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const { accelerator, version } = await provider.health();
  const { pool } = database;

  const addUser = async (): Promise<string> => {
    const id = newId();
    await pool.query("insert into vitto_users (id, name, role) values ($1, 'Bench', 'member')", [id]);
    return id;
  };
  return {
    host,
    remote: new VmApiClientService({ url: `http://127.0.0.1:${port}`, token: TOKEN }),
    accelerator: accelerator ?? 'none',
    version: version ?? '',
    image,
    addUser,
    start: async (template, user) => {
      const userId = user ?? (await addUser());
      const taskId = newId();
      const began = performance.now();
      const { sandboxId, from } = await host.acquire({
        taskId,
        userId,
        template,
        fence: 1,
        network: NETWORK,
      });
      const guest = host.guest(sandboxId, { taskId, fence: 1 });
      await run(guest, 'true');
      return { userId, taskId, sandboxId, from, guest, firstExecMs: performance.now() - began };
    },
    count: async () => {
      const { rows } = await pool.query<{ sessions: number; claims: number }>(
        `select (select count(*) from vitto_vm_sessions)::int as sessions,
          (select count(*) from vitto_vm_claims)::int as claims`,
      );
      const [vms, folders, files] = await Promise.all([
        provider.list(),
        readdir(join(folder, 'vm', 'machines')),
        readdir('/proc/self/fd'),
      ]);
      return {
        vms: vms.length,
        folders: folders.length,
        sessions: rows[0]?.sessions ?? 0,
        claims: rows[0]?.claims ?? 0,
        files: files.length,
      };
    },
    close: async () => {
      await host.stop(0);
      await server.close();
      await pool.end();
    },
  };
}

/** Runs a command that has to succeed. */
export async function run(guest: VmGuestSession, command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await guest.exec({ command, timeoutMs: 120_000 });
  if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}: ${stderr.text}`);
  return stdout.text;
}
