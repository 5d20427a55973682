// The server of the stream bench: the real HTTP server with its event hub, alone in its process.
import type { AddressInfo } from 'node:net';
import { createTestModelSetup } from '../apps/server/src/app/testing/model-setup.ts';
import { createHttpServer } from '../apps/server/src/app/http/create-http-server.ts';
import { McpServers } from '../apps/server/src/extensions/index.ts';
import { createTestPrograms } from '../apps/server/src/extensions/mcp/testing/stub.ts';
import { DeployKeys, readSettings } from '../apps/server/src/identity/index.ts';
import { createTestSecrets, createTestVault } from '../apps/server/src/identity/vault/testing.ts';
import { openDatabase } from '../apps/server/src/kernel/database/database.ts';
import { createIdleOutcomes } from '../apps/server/src/intelligence/testing.ts';
import { silentLogger } from '../apps/server/src/kernel/logger.ts';
import { createIdleNotices } from '../apps/server/src/notices/testing.ts';
import { SandboxHosts } from '../apps/server/src/sandbox/index.ts';
import { SignalBus } from '../apps/server/src/kernel/signal-bus.ts';
import { serveCalls } from './child-calls.ts';
import { LoadWatch, type ProcessLoad } from './process-load.ts';

const load = new LoadWatch();
const calls = {
  start: (input: { databaseUrl: string }): Promise<{ port: number }> => start(input.databaseUrl),
  begin: async (): Promise<void> => load.begin(),
  end: async (): Promise<ProcessLoad> => load.end(),
};
export type StreamServerCalls = typeof calls;
serveCalls(calls);

async function start(databaseUrl: string): Promise<{ port: number }> {
  const database = openDatabase({ url: databaseUrl, applicationName: 'vitto-bench-stream' });
  const publish = (text: string, values: unknown[]) => database.pool.query(text, values);
  const signals = new SignalBus({ url: databaseUrl, publish, logger: silentLogger });
  await signals.start();
  const secrets = createTestSecrets(database);
  const app = await createHttpServer({
    database,
    signals,
    runs: {
      database,
      signals,
      queue: { wake: async () => undefined, send: async () => undefined },
      logger: silentLogger,
      rootBudget: { maxIterations: 50, maxTokens: null, maxCostUsd: null, maxDurationMs: null },
      maxSubVittos: 5,
      readSettings: (userId) => readSettings(database, userId),
      checkModels: () => Promise.resolve(),
      resolveAllowedPaths: async (paths) => paths,
      outcomes: createIdleOutcomes(database),
    },
    outcomes: createIdleOutcomes(database),
    readSystemStatus: notUsed,
    startDemo: notUsed,
    listMainModels: notUsed,
    secrets,
    deployKeys: new DeployKeys({ database, vault: createTestVault(), signals, logger: silentLogger }),
    mcpServers: new McpServers({
      database,
      fillSecrets: (userId, value) => secrets.fill(userId, value),
      logger: silentLogger,
      programs: createTestPrograms(),
      signals,
      version: 'bench',
    }),
    modelSetup: createTestModelSetup(database),
    notices: createIdleNotices(database, signals),
    sandboxHosts: new SandboxHosts({ hosts: [], logger: silentLogger }),
    commandTimeoutMs: 60_000,
    dailyCostUsd: null,
    logger: silentLogger,
    version: 'bench',
    host: '127.0.0.1',
    publicUrl: 'http://127.0.0.1',
    webRoot: `${import.meta.dirname}/no-web-app`,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { port: (app.server.address() as AddressInfo).port };
}

function notUsed(): Promise<never> {
  return Promise.reject(new Error('not used here'));
}
