import { access, constants, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { ComponentStatus, ModelStatus, SandboxHostInfo } from '@vitto/contracts';
import { readConfig, type Config } from './app/config.ts';
import { Models } from './app/models.ts';
import { AppError, describeError } from './kernel/app-error.ts';
import { openDatabase } from './kernel/database/database.ts';
import { choosePostgresBinaries } from './kernel/database/local-postgres-binaries.ts';
import { chooseDataRoot } from './kernel/database/local-postgres.ts';
import { describeModels, describeSandbox } from './ops/index.ts';
import { createProvider } from './app/local-sandbox.ts';
import { silentLogger } from './kernel/logger.ts';
import { ProcessSandboxService, SandboxHosts, VmApiClientService } from './sandbox/index.ts';

/** Below this much room on the disk the doctor warns, in bytes. */
const LOW_DISK = 2 * 1024 ** 3;

/** Checks what this machine has for Vitto, without a running server. Each part says how to mend it. */
async function examine(config: Config): Promise<ComponentStatus[]> {
  const dataRoot = chooseDataRoot({ home: config.home, uid: getuid?.() ?? -1 });
  const sandbox = new ProcessSandboxService({
    root: join(dataRoot, 'sandboxes'),
    secretFolders: [config.home, dataRoot],
  });
  try {
    return [
      checkNode(),
      await checkDatabase(config),
      describeSandbox(
        await sandbox.probe(),
        await findHosts(config, join(dataRoot, 'vm')),
        config.sandbox.developerTemplate,
      ),
      describeModels(await listModels(config)),
      await checkWebApp(),
      await checkDisk(dataRoot),
    ];
  } finally {
    await sandbox.stop();
  }
}

/** The hosts that tasks would ask: those that are named, else what this machine could be. */
async function findHosts(config: Config, root: string): Promise<SandboxHostInfo[]> {
  const { urls, token } = config.sandbox;
  if (urls.length > 0) {
    const clients = urls.map((url) => new VmApiClientService({ url, token: token ?? '' }));
    const infos = await new SandboxHosts({ hosts: clients, logger: silentLogger }).infos();
    await Promise.all(clients.map((client) => client.close()));
    return infos;
  }
  if (!config.roles.includes('sandbox')) return [];
  const { provider, images } = createProvider(config, silentLogger, root);
  const { accelerator, version, reason, hint } = await provider.health();
  const about = { provider: provider.name, accelerator, version, reason, hint, images: await images.list() };
  // How many run is what the server says of itself.
  const counts = { running: 0, waiting: 0, maxConcurrent: 0, memory: null };
  return [{ id: 'local', name: 'this machine', url: null, isReachable: true, ...about, ...counts }];
}

/** What the environment says; what was entered in the app lies in the database. */
function listModels(config: Config): Promise<ModelStatus[]> {
  const readSettings = () => Promise.resolve(config.models);
  return new Models({ readSettings, prices: config.prices }).status();
}

function checkNode(): ComponentStatus {
  const isGood = Number(process.versions.node.split('.')[0]) >= 24;
  return {
    name: 'node',
    state: isGood ? 'ok' : 'down',
    detail: `Node ${process.versions.node}`,
    ...(isGood ? {} : { hint: 'Run through npm (npm run vitto -- doctor): it brings Node 24 along.' }),
  };
}

async function checkDatabase(config: Config): Promise<ComponentStatus> {
  if (config.databaseUrl === null) {
    try {
      const binaries = await choosePostgresBinaries({ major: null });
      return {
        name: 'database',
        state: 'ok',
        detail: `local PostgreSQL ${binaries.major} (${binaries.source})`,
      };
    } catch (error) {
      return { name: 'database', state: 'missing', detail: describeError(error), ...hintOf(error) };
    }
  }
  const database = openDatabase({
    url: config.databaseUrl,
    maxConnections: 1,
    applicationName: 'vitto-doctor',
  });
  try {
    const result = await database.pool.query("select current_setting('server_version') as version");
    return {
      name: 'database',
      state: 'ok',
      detail: `PostgreSQL ${(result.rows[0] as { version: string }).version}`,
    };
  } catch (error) {
    return {
      name: 'database',
      state: 'down',
      detail: `DATABASE_URL does not answer: ${describeError(error)}`,
      hint: 'Start that server, or correct DATABASE_URL, or unset it: then Vitto brings its own.',
    };
  } finally {
    await database.pool.end();
  }
}

async function checkWebApp(): Promise<ComponentStatus> {
  const index = fileURLToPath(new URL('../../web/dist/index.html', import.meta.url));
  const isBuilt = await access(index, constants.R_OK).then(
    () => true,
    () => false,
  );
  return isBuilt
    ? { name: 'web app', state: 'ok', detail: 'built' }
    : {
        name: 'web app',
        state: 'missing',
        detail: 'not built yet',
        hint: 'npm start builds it; or: npm run build:web',
      };
}

async function checkDisk(folder: string): Promise<ComponentStatus> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const detail = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${folder}`;
  if (free > LOW_DISK) return { name: 'disk', state: 'ok', detail };
  return { name: 'disk', state: 'degraded', detail, hint: 'Make room: tasks wait while the disk is full.' };
}

function hintOf(error: unknown): { hint?: string } {
  return error instanceof AppError && error.hint !== undefined ? { hint: error.hint } : {};
}

async function main(): Promise<void> {
  let components: ComponentStatus[];
  try {
    components = await examine(readConfig(process.env));
  } catch (error) {
    components = [{ name: 'configuration', state: 'down', detail: describeError(error), ...hintOf(error) }];
  }
  process.stdout.write(`${JSON.stringify({ components })}\n`);
  if (components.some((part) => part.state === 'down')) process.exitCode = 1;
}

await main();
