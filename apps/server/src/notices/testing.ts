import { randomBytes } from 'node:crypto';
import { readSettings, Vault } from '../identity/index.ts';
import { AppError } from '../kernel/app-error.ts';
import type { Database } from '../kernel/database/database.ts';
import { silentLogger } from '../kernel/logger.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import { Notices } from './notices.ts';

/** Keeps webhooks and subscriptions; nothing is sent. */
export function createIdleNotices(database: Database, signals: SignalBus): Notices {
  const refuse = () => Promise.reject(new AppError('network.unreachable', 'Nothing is sent from this test.'));
  return new Notices({
    database,
    queue: { openSending: async () => {}, send: async () => {}, workSending: async () => {} },
    signals,
    vault: new Vault(randomBytes(32)),
    fetchFor: async () => refuse,
    fetchPublic: refuse,
    readSettings: (userId) => readSettings(database, userId),
    recordDisabled: () => Promise.resolve(),
    contact: 'mailto:vitto@vitto.invalid',
    logger: silentLogger,
  });
}
