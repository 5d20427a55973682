import type { AddDeployKey, DeployKey, ScannedHostKeys } from '@vitto/contracts';
import { AppError, notFound } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import { isOwnersAddress } from '../../kernel/network/address-policy.ts';
import { createDial, type Dial } from '../../kernel/network/dial.ts';
import type { SignalBus } from '../../kernel/signal-bus.ts';
import { fingerprintOf, formatHostKey, parseHostKey, type HostKey } from '../../kernel/ssh/host-key.ts';
import { publishedFingerprints } from '../../kernel/ssh/known-forges.ts';
import { makeKeyPair, readKeyPair } from '../../kernel/ssh/private-key.ts';
import { formatRepository, parseRepository, showRepository } from '../../kernel/ssh/repository.ts';
import { scanHostKeys } from '../../kernel/ssh/scan-host-keys.ts';
import { isOwner } from '../owner.store.ts';
import type { Vault } from '../vault/vault.ts';
import {
  deleteDeployKey,
  DEPLOY_KEYS_MAX,
  insertDeployKey,
  noteDeployKeyUse,
  readDeployKeys,
  type StoredDeployKey,
} from './deploy-key.store.ts';

export interface DeployKeysDependencies {
  database: Database;
  vault: Vault;
  signals: Pick<SignalBus, 'changed'>;
  logger: Logger;
  /** Opens connections for looking at host keys; by default to the internet, and to the private network for the owner. */
  dial?: Dial;
}

/** A key with what a git transport needs of it. */
export interface OpenDeployKey {
  repository: string;
  privateKey: string;
  hostKeys: string[];
  mayBePrivate: boolean;
}

/** The deploy keys of users. Private halves come out at one place: where a machine is given the use of them. */
export class DeployKeys {
  readonly #deps: DeployKeysDependencies;

  constructor(deps: DeployKeysDependencies) {
    this.#deps = deps;
  }

  async list(userId: string): Promise<DeployKey[]> {
    return (await readDeployKeys(this.#deps.database.pool, userId)).map(toShown);
  }

  /**
   * @throws AppError `repository.bad-address`, `private-key.…`, `host-key.unreadable`, `deploy-key.host-keys-needed`,
   *   `deploy-key.exists`, `deploy-key.too-many`, `network.…`
   */
  async add(userId: string, request: AddDeployKey): Promise<DeployKey> {
    const repository = formatRepository(parseRepository(request.repository));
    const pair = request.privateKey === undefined ? makeKeyPair() : readKeyPair(request.privateKey);
    const hostKeys = (request.hostKeys ?? (await this.#readPublished(userId, request.repository)))
      .map(parseHostKey)
      .map(formatHostKey);
    const { database, vault, signals } = this.#deps;
    const id = newId();
    const added = await insertDeployKey(database.pool, userId, {
      id,
      repository,
      publicKey: pair.publicKey,
      hostKeys,
      ...vault.seal(pair.privateKey, placeOfDeployKey(userId, id)),
    });
    if (added === 'exists') throw alreadyThere(request.repository);
    if (added === 'too-many') throw tooMany();
    await signals.changed('secrets', userId);
    return toShown(added);
  }

  /** @throws AppError `deploy-key.not-found`. */
  async remove(userId: string, id: string): Promise<void> {
    const { database, signals } = this.#deps;
    if ((await deleteDeployKey(database.pool, userId, id)) === null) throw notFound('deploy-key');
    await signals.changed('secrets', userId);
  }

  /**
   * The keys that the server of a repository shows now, for a person to compare.
   * @throws AppError `repository.bad-address`, `network.…`, `deploy-key.other-host-key`
   */
  async scan(userId: string, address: string): Promise<ScannedHostKeys> {
    const { host, port } = parseRepository(address);
    const found = await scanHostKeys(await this.#dialFor(userId), host, port);
    const published = publishedFingerprints(host);
    const hostKeys = found.map((key) => toScanned(key, published));
    // A forge that shows no key of those it publishes is not that forge.
    if (published !== null && !hostKeys.some(({ isPublished }) => isPublished === true)) throw otherKey(host);
    return { host, hostKeys: hostKeys.filter(({ isPublished }) => isPublished !== false) };
  }

  /** All keys of a user, opened; one that cannot be opened is left out and logged. */
  async open(userId: string): Promise<OpenDeployKey[]> {
    const { database, vault, logger } = this.#deps;
    const [stored, mayBePrivate] = await Promise.all([
      readDeployKeys(database.pool, userId),
      isOwner(database, userId),
    ]);
    return stored.flatMap((key) => {
      try {
        const privateKey = vault.open(key, placeOfDeployKey(userId, key.id));
        return [{ repository: key.repository, privateKey, hostKeys: key.hostKeys, mayBePrivate }];
      } catch (error) {
        logger.warn({ err: error, userId, deployKey: key.id }, 'a deploy key cannot be opened');
        return [];
      }
    });
  }

  /** Private halves, to be masked wherever text is: one that leaked by other ways is known when it turns up. */
  async readMasked(userId: string): Promise<{ name: string; value: string }[]> {
    const keys = await this.open(userId);
    return keys.map(({ repository, privateKey }) => ({
      name: `deploy key of ${repository}`,
      value: privateKey,
    }));
  }

  /** Notes that a machine was given the use of all of the user's keys. */
  async noteUse(userId: string): Promise<void> {
    const { pool } = this.#deps.database;
    const ids = (await readDeployKeys(pool, userId)).map(({ id }) => id);
    if (ids.length > 0) await noteDeployKeyUse(pool, userId, ids);
  }

  async #readPublished(userId: string, address: string): Promise<string[]> {
    const { host } = parseRepository(address);
    if (publishedFingerprints(host) === null) throw hostKeysNeeded(host);
    return (await this.scan(userId, address)).hostKeys.map(({ line }) => line);
  }

  async #dialFor(userId: string): Promise<Dial> {
    if (this.#deps.dial !== undefined) return this.#deps.dial;
    const isEntrusted = await isOwner(this.#deps.database, userId);
    return isEntrusted ? createDial({ mayConnect: isOwnersAddress }) : createDial();
  }
}

/** What a sealed key belongs to: it opens nowhere else. */
export function placeOfDeployKey(userId: string, id: string): string {
  return `deploy-key:${userId}:${id}`;
}

function toShown(key: StoredDeployKey): DeployKey {
  return {
    id: key.id,
    repository: showRepository(parseRepository(key.repository)),
    publicKey: key.publicKey,
    hostKeys: key.hostKeys
      .map(parseHostKey)
      .map(({ type, blob }) => ({ type, fingerprint: fingerprintOf(blob) })),
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}

function toScanned(key: HostKey, published: readonly string[] | null): ScannedHostKeys['hostKeys'][number] {
  const fingerprint = fingerprintOf(key.blob);
  const isPublished = published === null ? null : published.includes(fingerprint);
  return { line: formatHostKey(key), type: key.type, fingerprint, isPublished };
}

function hostKeysNeeded(host: string): AppError {
  return new AppError('deploy-key.host-keys-needed', `Nobody has confirmed yet how ${host} is recognised.`, {
    status: 422,
    hint: 'Ask for its keys (POST /api/deploy-keys/host-keys), compare the fingerprints with those of whoever runs it, and send the lines along as hostKeys.',
  });
}

function otherKey(host: string): AppError {
  return new AppError('deploy-key.other-host-key', `${host} shows none of the keys that it publishes.`, {
    status: 502,
    hint: 'Somebody may stand between this machine and it, or it has new keys. Look at the page where it publishes its fingerprints; if they are new, give the keys by hand.',
  });
}

function alreadyThere(repository: string): AppError {
  return new AppError('deploy-key.exists', `There is a deploy key for ${repository}.`, {
    status: 409,
    hint: 'Delete it first to replace it.',
  });
}

function tooMany(): AppError {
  return new AppError(
    'deploy-key.too-many',
    `You have ${DEPLOY_KEYS_MAX} deploy keys, as many as there may be.`,
    {
      status: 422,
      hint: 'Delete one that is not used any more.',
    },
  );
}
