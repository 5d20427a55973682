import { SECRET_REFERENCE, type Secret } from '@vitto/contracts';
import { AppError, notFound } from '../kernel/app-error.ts';
import type { Database } from '../kernel/database/database.ts';
import type { Logger } from '../kernel/logger.ts';
import type { SignalBus } from '../kernel/signal-bus.ts';
import { maskingAlso } from '../kernel/text/mask-secrets.ts';
import { mapStrings } from '../kernel/text/storable.ts';
import {
  listSecrets,
  noteSecretUse,
  readSealedSecrets,
  removeSecret,
  SECRETS_MAX,
  writeSecret,
} from './secret.store.ts';
import { UserMasks } from './user-masks.ts';
import type { Vault } from './vault/vault.ts';

export interface SecretsDependencies {
  database: Database;
  vault: Vault;
  signals: Pick<SignalBus, 'listen' | 'changed'>;
  logger: Logger;
  /** What else of a user's is masked, each under a name. */
  readOthers?: (userId: string) => Promise<{ name: string; value: string }[]>;
}

/**
 * Named secrets of users. Values go in and come out at two places only: where a tool or a connection fills them in at
 * the last moment, and where text is searched for them to mask them.
 */
export class Secrets {
  readonly #deps: SecretsDependencies;
  readonly #masks: UserMasks;

  constructor(deps: SecretsDependencies) {
    this.#deps = deps;
    this.#masks = new UserMasks({
      signals: deps.signals,
      logger: deps.logger,
      readValues: async (userId) => [
        ...(await this.#readKnown(userId)),
        ...((await deps.readOthers?.(userId)) ?? []),
      ],
    });
  }

  list(userId: string): Promise<Secret[]> {
    return listSecrets(this.#deps.database.pool, userId);
  }

  /** @throws AppError `secret.too-many`. */
  async set(userId: string, name: string, value: string): Promise<void> {
    const { database, vault } = this.#deps;
    const sealed = vault.seal(value, placeOf(userId, name));
    if (!(await writeSecret(database.pool, userId, { name, ...sealed }))) {
      throw new AppError('secret.too-many', `You have ${SECRETS_MAX} secrets, as many as there may be.`, {
        status: 422,
        hint: 'Delete one that is not used any more.',
      });
    }
    await this.#tellOfChange(userId);
  }

  /** @throws AppError `secret.not-found`. */
  async remove(userId: string, name: string): Promise<void> {
    if (!(await removeSecret(this.#deps.database.pool, userId, name))) throw notFound('secret');
    await this.#tellOfChange(userId);
  }

  /**
   * The value with `{{secret:NAME}}` replaced in each of its strings.
   * @throws AppError `secret.unknown` naming it; `vault.wrong-key`, `vault.damaged`.
   */
  async fill<T>(userId: string, value: T): Promise<T> {
    const names = namesIn(value);
    if (names.length === 0) return value;
    const { database, vault } = this.#deps;
    const found = await readSealedSecrets(database.pool, userId, names);
    const values = new Map(found.map((one) => [one.name, vault.open(one, placeOf(userId, one.name))]));
    const missing = names.find((name) => !values.has(name));
    if (missing !== undefined) throw unknownSecret(missing);
    await this.#masks.ensureKnown(userId, [...values.values()]);
    await noteSecretUse(database.pool, userId, names);
    return mapStrings(value, (text) =>
      text.replace(SECRET_REFERENCE, (_, name: string) => values.get(name) ?? ''),
    ) as T;
  }

  /** Does `work`, and what follows from it, with this user's values masked in all that is written, logged or sent. */
  async masking<T>(userId: string, work: () => T | Promise<T>): Promise<T> {
    const mask = await this.#masks.of(userId);
    return maskingAlso(mask, work);
  }

  async #tellOfChange(userId: string): Promise<void> {
    await this.#masks.reload(userId);
    await this.#deps.signals.changed('secrets', userId);
  }

  /** What cannot be opened cannot be used either: it has nothing to mask. */
  async #readKnown(userId: string): Promise<{ name: string; value: string }[]> {
    const { database, vault, logger } = this.#deps;
    const sealed = await readSealedSecrets(database.pool, userId, null);
    return sealed.flatMap((one) => {
      try {
        return [{ name: one.name, value: vault.open(one, placeOf(userId, one.name)) }];
      } catch (error) {
        logger.warn({ err: error, userId, name: one.name }, 'a secret cannot be opened');
        return [];
      }
    });
  }
}

export function placeOf(userId: string, name: string): string {
  return `secret:${userId}:${name}`;
}

function namesIn(value: unknown): string[] {
  const names = new Set<string>();
  mapStrings(value, (text) => {
    for (const [, name] of text.matchAll(SECRET_REFERENCE)) names.add(name as string);
    return text;
  });
  return [...names];
}

function unknownSecret(name: string): AppError {
  return new AppError('secret.unknown', `There is no secret named ${name}.`, {
    status: 422,
    hint: `Enter it in the settings under Secrets, or correct the name in {{secret:${name}}}.`,
  });
}
