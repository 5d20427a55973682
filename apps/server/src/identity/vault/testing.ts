import { randomBytes } from 'node:crypto';
import type { Database } from '../../kernel/database/database.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { Secrets } from '../secrets.ts';
import { Vault } from './vault.ts';

/** A vault with a key of its own, for tests. */
export function createTestVault(): Vault {
  return new Vault(randomBytes(32));
}

/** The secrets of a test's users, for one process. */
export function createTestSecrets(database: Database, vault = createTestVault()): Secrets {
  const signals = { listen: () => () => undefined, changed: () => Promise.resolve() };
  return new Secrets({ database, vault, signals, logger: silentLogger });
}
