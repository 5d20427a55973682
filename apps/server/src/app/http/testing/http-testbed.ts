import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import type { NewEvent, SystemStatus } from '@vitto/contracts';
import type { WebApp } from '../../../channels/index.ts';
import { appendEvents } from '../../../engine/journal/journal.store.ts';
import { McpServers } from '../../../extensions/index.ts';
import { createTestPrograms } from '../../../extensions/mcp/testing/stub.ts';
import { createApiToken, DeployKeys, ensureOwner, readSettings, Secrets } from '../../../identity/index.ts';
import { createTestVault } from '../../../identity/vault/testing.ts';
import { createIdleOutcomes } from '../../../intelligence/testing.ts';
import { AppError } from '../../../kernel/app-error.ts';
import { createTestDatabase } from '../../../kernel/database/testing.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { newId } from '../../../kernel/ids.ts';
import { silentLogger } from '../../../kernel/logger.ts';
import { SignalBus } from '../../../kernel/signal-bus.ts';
import { createIdleNotices } from '../../../notices/testing.ts';
import type { RunDependencies } from '../../../runs/index.ts';
import { SandboxHosts } from '../../../sandbox/index.ts';
import { createTestModels } from '../../testing/model-setup.ts';
import { createHttpServer, type HttpDependencies } from '../create-http-server.ts';

/** One key for all servers of a test, as all processes of an installation have one. */
const vault = createTestVault();

export interface TestServer {
  app: WebApp;
  url: string;
  signals: SignalBus;
  runs: RunDependencies;
  close: () => Promise<void>;
}

/** A real database, two users, and as many servers on it as a test wants: each with its own signal connection. */
export interface HttpTestbed {
  database: Database;
  databaseUrl: string;
  owner: { userId: string; token: string };
  stranger: { userId: string; token: string };
  startServer: (options?: Partial<HttpDependencies>) => Promise<TestServer>;
  /** A task with its first events, made as the runs make one. */
  createTask: (userId: string, conversationId?: string | null) => Promise<string>;
  append: (taskId: string, events: NewEvent[]) => Promise<number>;
  close: () => Promise<void>;
}

export async function createHttpTestbed(): Promise<HttpTestbed> {
  const { database, url, drop } = await createTestDatabase();
  const owner = await ensureOwner(database);
  const strangerId = newId();
  await database.pool.query("insert into vitto_users (id, name, role) values ($1, 'Stranger', 'member')", [
    strangerId,
  ]);
  const servers: TestServer[] = [];
  return {
    database,
    databaseUrl: url,
    owner: await withToken(database, owner.id),
    stranger: await withToken(database, strangerId),
    startServer: async (options) => {
      const server = await startServer(database, url, options ?? {});
      servers.push(server);
      return server;
    },
    createTask: (userId, conversationId) => insertRunningTask(database, userId, conversationId ?? null),
    append: (taskId, events) => appendAsOwner(database, taskId, events),
    close: async () => {
      for (const server of servers) await server.close();
      await drop();
    },
  };
}

async function withToken(database: Database, userId: string) {
  const { token } = await createApiToken(database, userId, { name: 'test' });
  return { userId, token };
}

async function startServer(
  database: Database,
  url: string,
  options: Partial<HttpDependencies>,
): Promise<TestServer> {
  const signals = new SignalBus({
    url,
    publish: (text, values) => database.pool.query(text, values),
    logger: silentLogger,
  });
  await signals.start();
  const runs = createTestRuns(database, signals);
  const deployKeys = new DeployKeys({ database, vault, signals, logger: silentLogger });
  const secrets = new Secrets({
    database,
    vault,
    signals,
    logger: silentLogger,
    readOthers: (userId) => deployKeys.readMasked(userId),
  });
  const app = await createHttpServer({
    database,
    signals,
    runs,
    readSystemStatus: async () => EMPTY_STATUS,
    modelSetup: createTestModels(database, { vault }).setup,
    secrets,
    deployKeys,
    mcpServers: new McpServers({
      database,
      fillSecrets: (userId, value) => secrets.fill(userId, value),
      logger: silentLogger,
      programs: createTestPrograms(),
      signals,
      version: '0.0.0-test',
    }),
    listMainModels: async () => ['test/one', 'test/two', 'script:/a.yaml'],
    startDemo: ({ userId }) => insertRunningTask(database, userId, null),
    notices: createIdleNotices(database, signals),
    outcomes: createIdleOutcomes(database),
    sandboxHosts: new SandboxHosts({ hosts: [], logger: silentLogger }),
    commandTimeoutMs: 60_000,
    dailyCostUsd: null,
    logger: silentLogger,
    version: '0.0.0-test',
    host: '127.0.0.1',
    publicUrl: 'http://127.0.0.1:4800',
    webRoot: `${tmpdir()}/vitto-no-web-app`,
    attemptsPerMinute: 1_000,
    ...options,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await app.close();
    await signals.stop();
  };
  return { app, url: `http://127.0.0.1:${port}`, signals, runs, close };
}

/** The runs as the server has them, with a queue that no worker reads. */
export function createTestRuns(database: Database, signals: SignalBus): RunDependencies {
  return {
    database,
    queue: { wake: async () => undefined, send: async () => undefined },
    signals,
    logger: silentLogger,
    rootBudget: { maxIterations: 50, maxTokens: 500_000, maxCostUsd: null, maxDurationMs: null },
    maxSubVittos: 5,
    readSettings: (userId) => readSettings(database, userId),
    checkModels: async (list, { needsPrice }) => {
      if (needsPrice && list?.includes('unpriced') === true) {
        throw new AppError('budget.no-price', 'There is no price known.', { status: 422 });
      }
      if (list?.includes('nope') === true) {
        throw new AppError('model.unknown', 'There is no such model.', { status: 422 });
      }
    },
    resolveAllowedPaths: async (paths) => paths,
    outcomes: createIdleOutcomes(database),
  };
}

const EMPTY_STATUS: SystemStatus = {
  version: '0.0.0-test',
  startedAt: new Date(0).toISOString(),
  roles: ['server'],
  components: [],
  models: [],
  tasks: {},
  processes: [],
  readAt: new Date(0).toISOString(),
  queue: { queued: 0, oldestQueuedMs: null, running: 0, waiting: 0 },
  database: { version: '0', kind: 'external', bytes: 0, connections: 0, maxConnections: 0, roundTripMs: 0 },
};

async function insertRunningTask(
  database: Database,
  userId: string,
  conversationId: string | null,
): Promise<string> {
  const id = newId();
  await database.pool.query(
    `insert into vitto_tasks (id, user_id, root_id, depth, kind, conversation_id, title, state, complexity, estimated_duration,
       max_iterations, fence, lease_holder, lease_until, started_at)
     values ($1, $2, $1, 0, 'chat', $3, 'a task', 'running', 'simple', 'short', 50, 1, 'test', now() + interval '1 hour', now())`,
    [id, userId, conversationId],
  );
  return id;
}

async function appendAsOwner(database: Database, taskId: string, events: NewEvent[]): Promise<number> {
  const appended = await appendEvents(database.pool, { taskId, fence: 1, events });
  return appended.lastPosition ?? 0;
}
