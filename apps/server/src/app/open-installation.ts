import { mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { getuid } from 'node:process';
import { openDatabase, type Database } from '../kernel/database/database.ts';
import { chooseDataRoot, startLocalPostgres } from '../kernel/database/local-postgres.ts';
import { migrateDatabase } from '../kernel/database/migrate.ts';
import { createLogger, type Logger } from '../kernel/logger.ts';
import { registerSecrets } from '../kernel/text/mask-secrets.ts';
import { ProcessSandboxService } from '../sandbox/index.ts';
import type { Config } from './config.ts';

/** What every role of this installation stands on: folders, log, database, sandbox. */
export interface Installation {
  config: Config;
  logger: Logger;
  /** Where data lies that other system users must reach (PostgreSQL, sandboxes); the home, for ordinary users. */
  dataRoot: string;
  database: Database;
  databaseUrl: string;
  sandbox: ProcessSandboxService;
  /** Folders that no task may be shown. */
  secretFolders: string[];
  close: () => Promise<void>;
}

/** Opens the database (starting the local one where none is given), brings its schema up to date, and finds the sandbox. */
export async function openInstallation(config: Config): Promise<Installation> {
  registerSecrets(config.secrets);
  const logger = createLogger({ level: config.logLevel });
  mkdirSync(config.home, { recursive: true, mode: 0o700 });
  const dataRoot = chooseDataRoot({ home: config.home, uid: getuid?.() ?? -1 });
  const server =
    config.databaseUrl === null
      ? await startLocalPostgres({ dataDir: join(dataRoot, 'postgres'), log: logger })
      : null;
  const databaseUrl = server?.url ?? config.databaseUrl ?? '';
  const stopServer = async () => {
    await server?.stop();
  };
  try {
    await migrateDatabase(databaseUrl);
  } catch (error) {
    await stopServer();
    throw error;
  }
  const database = openDatabase({
    url: databaseUrl,
    maxConnections: 10 + config.workerConcurrency,
    onError: (error) => logger.warn({ err: error }, 'a database connection broke; a new one is opened'),
  });
  // A key file elsewhere must not lie in a folder that a task is shown either.
  const keyFile = config.masterKey !== null && isAbsolute(config.masterKey) ? [config.masterKey] : [];
  const secretFolders = [config.home, dataRoot, ...keyFile];
  const sandbox = new ProcessSandboxService({ root: join(dataRoot, 'sandboxes'), secretFolders, logger });
  return {
    config,
    logger,
    dataRoot,
    database,
    databaseUrl,
    sandbox,
    secretFolders,
    close: async () => {
      await sandbox.stop();
      await database.pool.end();
      await stopServer();
    },
  };
}
