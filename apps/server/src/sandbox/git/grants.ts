import { parseHostKey, type HostKey } from '../../kernel/ssh/host-key.ts';
import {
  formatRepository,
  isSameRepository,
  parseRepository,
  type Repository,
} from '../../kernel/ssh/repository.ts';
import type { RepositoryGrant } from '../host/sandbox-host.ts';

/** A key that may be used for one repository, in this process's memory alone. */
export interface Grant {
  repository: Repository;
  privateKey: Buffer;
  hostKeys: HostKey[];
  /** Its server may stand in the private network: the owner of the installation named it. */
  mayBePrivate: boolean;
}

/** What one VM may use: keys for repositories, and for a while pushes to some of them. */
export class Grants {
  readonly #grants = new Map<string, Grant>();
  readonly #pushes = new Map<object, { repository: Repository; until: number }>();

  /** Adds a grant, or replaces the one of the same repository. @throws AppError for an address or key that is none. */
  add({ repository, privateKey, hostKeys, mayBePrivate }: RepositoryGrant): void {
    const parsed = parseRepository(repository);
    const keys = hostKeys.map(parseHostKey);
    this.remove(repository);
    this.#grants.set(formatRepository(parsed), {
      repository: parsed,
      privateKey: Buffer.from(privateKey),
      hostKeys: keys,
      mayBePrivate,
    });
  }

  /** Takes a key back, and overwrites it. */
  remove(repository: string): void {
    const name = formatRepository(parseRepository(repository));
    this.#grants.get(name)?.privateKey.fill(0);
    this.#grants.delete(name);
  }

  /** The grant for what a guest asks for: the very same, else one that a forge takes for the same. */
  find(asked: Repository): Grant | null {
    const exact = this.#grants.get(formatRepository(asked));
    if (exact !== undefined) return exact;
    return [...this.#grants.values()].find(({ repository }) => isSameRepository(repository, asked)) ?? null;
  }

  list(): Repository[] {
    return [...this.#grants.values()].map(({ repository }) => repository);
  }

  /** Lets this VM push to the repository, until `withdraw` or for `forMs`. */
  allowPush(repository: string, forMs: number): () => void {
    const permit = {};
    this.#pushes.set(permit, { repository: parseRepository(repository), until: performance.now() + forMs });
    return () => this.#pushes.delete(permit);
  }

  /** Whether there is a permit that means exactly this grant: one of a repository beside it of almost that name does not. */
  mayPush(grant: Grant): boolean {
    const now = performance.now();
    for (const [permit, { until }] of this.#pushes) if (until <= now) this.#pushes.delete(permit);
    return [...this.#pushes.values()].some(({ repository }) => this.find(repository) === grant);
  }

  clear(): void {
    for (const { privateKey } of this.#grants.values()) privateKey.fill(0);
    this.#grants.clear();
    this.#pushes.clear();
  }
}
