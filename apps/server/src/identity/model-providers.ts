import { AppError, notFound } from '../kernel/app-error.ts';
import type { Database } from '../kernel/database/database.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import type { Logger } from '../kernel/logger.ts';
import { registerSecrets } from '../kernel/text/mask-secrets.ts';
import {
  lockModelProvider,
  readModelProviders,
  removeModelProvider,
  writeModelProvider,
  type StoredProvider,
} from './model-provider.store.ts';
import type { Sealed, Vault } from './vault/vault.ts';

/** A provider of models with its key opened. */
export interface ProviderKey {
  name: string;
  /** `null`: it has none, or the one it has cannot be opened. */
  apiKey: string | null;
  hasKey: boolean;
  baseUrl: string | null;
  updatedAt: Date;
}

/** A change of one; what is absent is kept, `baseUrl: null` takes the address away. */
export interface ProviderChange {
  apiKey?: string | undefined;
  baseUrl?: string | null | undefined;
}

/** The providers of models that were set up in the app, for the whole installation. */
export class ModelProviders {
  readonly #deps: { database: Database; vault: Vault; logger: Logger };

  constructor(deps: { database: Database; vault: Vault; logger: Logger }) {
    this.#deps = deps;
  }

  /** All of them as they are now. Whatever is read is masked in this process from then on. */
  async read(): Promise<ProviderKey[]> {
    const stored = await readModelProviders(this.#deps.database.pool);
    const opened = stored.map((provider) => this.#open(provider));
    registerSecrets(opened.flatMap(({ apiKey }) => (apiKey === null ? [] : [apiKey])));
    return opened;
  }

  /**
   * @throws AppError `model-provider.key-needed` when a stored key would go to another address than the one it was
   *   entered for: keys are write-only, also for those who may set the address.
   */
  async set(name: string, change: ProviderChange): Promise<void> {
    const { database, vault } = this.#deps;
    if (change.apiKey !== undefined) registerSecrets([change.apiKey]);
    await inTransaction(database, async (client) => {
      const before = await lockModelProvider(client, name);
      const baseUrl = changedAddress(before, change);
      const kept = keyOf(before);
      if (kept !== null && change.apiKey === undefined && baseUrl !== before?.baseUrl) throw keyNeeded();
      const key = change.apiKey === undefined ? kept : vault.seal(change.apiKey, placeOf(name));
      await writeModelProvider(client, { name, key, baseUrl });
    });
  }

  /** @throws AppError `model-provider.not-found`. */
  async remove(name: string): Promise<void> {
    if (!(await removeModelProvider(this.#deps.database.pool, name))) throw notFound('model-provider');
  }

  #open(provider: StoredProvider): ProviderKey {
    const { name, baseUrl, updatedAt } = provider;
    const sealed = keyOf(provider);
    const shown = { name, baseUrl, updatedAt, hasKey: sealed !== null };
    if (sealed === null) return { ...shown, apiKey: null };
    try {
      return { ...shown, apiKey: this.#deps.vault.open(sealed, placeOf(name)) };
    } catch (error) {
      this.#deps.logger.warn({ err: error, provider: name }, 'the key of a model provider cannot be opened');
      return { ...shown, apiKey: null };
    }
  }
}

/**
 * A provider as it would be after a change, of which nothing is stored. The new key is masked in this process from now on.
 * @throws AppError as `ModelProviders.set`.
 */
export function applyProviderChange(
  before: ProviderKey | undefined,
  name: string,
  change: ProviderChange,
): ProviderKey {
  if (change.apiKey !== undefined) registerSecrets([change.apiKey]);
  const baseUrl = changedAddress(before, change);
  if (before?.hasKey === true && change.apiKey === undefined && baseUrl !== before.baseUrl) throw keyNeeded();
  const apiKey = change.apiKey ?? before?.apiKey ?? null;
  const hasKey = change.apiKey !== undefined || before?.hasKey === true;
  return { name, apiKey, hasKey, baseUrl, updatedAt: before?.updatedAt ?? new Date() };
}

function changedAddress(
  before: { baseUrl: string | null } | null | undefined,
  change: ProviderChange,
): string | null {
  return change.baseUrl === undefined ? (before?.baseUrl ?? null) : change.baseUrl;
}

function keyOf(provider: StoredProvider | null): Sealed | null {
  if (provider === null || provider.keyId === null || provider.sealed === null) return null;
  return { keyId: provider.keyId, sealed: provider.sealed };
}

export function placeOf(name: string): string {
  return `model-provider:${name}`;
}

function keyNeeded(): AppError {
  const message = 'the stored key was entered for another address';
  return new AppError('model-provider.key-needed', 'The address changes, so the key must be entered again.', {
    status: 422,
    hint: 'Send `apiKey` with the new `baseUrl`.',
    errors: [{ path: 'apiKey', message }],
  });
}
