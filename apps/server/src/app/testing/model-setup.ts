import { ModelLimiter, type ModelSettings } from '../../engine/index.ts';
import { ModelProviders, readSettings, type Vault } from '../../identity/index.ts';
import { createTestVault } from '../../identity/vault/testing.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database/database.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { ModelAccess } from '../model-access.ts';
import { ModelSetupService } from '../model-setup.ts';
import { Models } from '../models.ts';

/** The models of one process of an installation, as the start makes them. */
export function createTestModels(
  database: Database,
  options: { environment?: ModelSettings; vault?: Vault } = {},
): { access: ModelAccess; models: Models; setup: ModelSetupService } {
  const { environment = { models: {}, providers: {} }, vault = createTestVault() } = options;
  const access = new ModelAccess(environment, new ModelProviders({ database, vault, logger: silentLogger }));
  const models = new Models({ readSettings: () => access.settings(), prices: {} });
  const setup = new ModelSetupService({
    access,
    models,
    limiter: new ModelLimiter(systemClock),
    readSettings: (userId) => readSettings(database, userId),
  });
  return { access, models, setup };
}

export function createTestModelSetup(database: Database): ModelSetupService {
  return createTestModels(database).setup;
}
