import type { Duplex } from 'node:stream';
import type { Logger } from '../../kernel/logger.ts';
import { isOwnersAddress } from '../../kernel/network/address-policy.ts';
import { createDial, type Dial } from '../../kernel/network/dial.ts';
import { formatRepository, showRepository, type Repository } from '../../kernel/ssh/repository.ts';
import type { RepositoryGrant } from '../host/sandbox-host.ts';
import { GitRefusal, parseGitRequest, type GitRequest } from './git-request.ts';
import { Grants, type Grant } from './grants.ts';
import { openGitSession, type GitSession } from './open-git-session.ts';
import { relayGit, type RelayLimits } from './relay-git.ts';

export interface GitTransportOptions {
  vmId: string;
  logger: Logger;
  /** Opens connections to servers on the public internet. */
  dial?: Dial;
  /** Opens those that the owner of the installation named, in the private network too. */
  dialPrivate?: Dial;
  limits?: Partial<RelayLimits>;
}

const LIMITS: RelayLimits = { totalMs: 60 * 60_000, idleMs: 5 * 60_000, maxBytes: 8 * 1024 ** 3 };
const MAX_SESSIONS = 8;

/**
 * Git over SSH for one VM, with the keys on this side: a guest says what it wants to fetch or push, and sees git's
 * protocol and nothing else. The keys live in this object, and end with it.
 */
export class GitTransport {
  readonly #options: GitTransportOptions;
  readonly #limits: RelayLimits;
  readonly #dials: { public: Dial; private: Dial };
  readonly #grants = new Grants();
  readonly #streams = new Set<Duplex>();
  readonly #sessions = new Map<GitSession, Grant>();
  #isClosed = false;

  constructor(options: GitTransportOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#dials = {
      public: options.dial ?? createDial(),
      private: options.dialPrivate ?? createDial({ mayConnect: isOwnersAddress }),
    };
  }

  /** Lets this VM fetch from a repository. @throws AppError for an address or a host key that is none. */
  grant(grant: RepositoryGrant): void {
    if (!this.#isClosed) this.#grants.add(grant);
  }

  /** Takes a key back; connections that were opened with it end. */
  revoke(repository: string): void {
    this.#grants.remove(repository);
    for (const [session, grant] of this.#sessions) {
      if (this.#grants.find(grant.repository) !== grant) session.close();
    }
  }

  /** Lets this VM push to the repository, until `withdraw` or for `forMs`. A push that has begun may end. */
  allowPush(repository: string, forMs: number): { withdraw: () => void } {
    return { withdraw: this.#grants.allowPush(repository, forMs) };
  }

  /** Serves a stream that the guest's git relay opened. `about`: the arguments of its ssh command. */
  accept(about: Buffer, guest: Duplex): void {
    guest.on('error', () => undefined);
    void this.#serve(about, guest);
  }

  /** Ends all connections and forgets the keys. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions.keys()) session.close();
    for (const guest of this.#streams) guest.destroy();
    this.#grants.clear();
  }

  async #serve(about: Buffer, guest: Duplex): Promise<void> {
    const { logger, vmId } = this.#options;
    let request: GitRequest | null = null;
    try {
      if (this.#isClosed || this.#streams.size >= MAX_SESSIONS) throw new GitRefusal('too many at once');
      this.#streams.add(guest);
      request = parseGitRequest(about);
      await this.#join(request, this.#allow(request), guest);
      logger.info({ vmId, ...describe(request) }, 'git of a VM was let through');
    } catch (error) {
      if (!(error instanceof GitRefusal)) logger.error({ err: error, vmId }, 'the git transport failed');
      const reason = error instanceof GitRefusal ? error.message : 'the connection broke off';
      logger.info({ vmId, ...describe(request), reason }, 'git of a VM was refused or failed');
      guest.destroy(new GitRefusal(`Vitto: ${reason}`));
    } finally {
      this.#streams.delete(guest);
    }
  }

  async #join(request: GitRequest, grant: Grant, guest: Duplex): Promise<void> {
    const dial = grant.mayBePrivate ? this.#dials.private : this.#dials.public;
    const session = await openGitSession(dial, grant, request);
    this.#sessions.set(session, grant);
    try {
      // It may have been taken back while the connection was opened.
      if (this.#isClosed || this.#grants.find(grant.repository) !== grant) {
        session.close();
        throw noKey(request.repository, this.#grants.list());
      }
      await relayGit(guest, session, request, this.#limits);
    } finally {
      this.#sessions.delete(session);
    }
  }

  /** @throws GitRefusal */
  #allow({ verb, repository }: GitRequest): Grant {
    const grant = this.#grants.find(repository);
    if (grant === null) throw noKey(repository, this.#grants.list());
    if (verb === 'git-receive-pack' && !this.#grants.mayPush(grant)) {
      throw new GitRefusal('pushing is not allowed from a command; use the tool git_push, which asks first');
    }
    return grant;
  }
}

function noKey(asked: Repository, granted: Repository[]): GitRefusal {
  const have = granted.length === 0 ? '' : ` (there are keys for ${granted.map(showRepository).join(', ')})`;
  return new GitRefusal(
    `there is no deploy key for ${showRepository(asked)}${have}. Whoever owns this task can add one in Vitto under Settings, Secrets, Deploy keys; a public repository can be cloned by https when its host is allowed`,
  );
}

function describe(request: GitRequest | null): { verb?: string; repository?: string } {
  if (request === null) return {};
  return { verb: request.verb, repository: formatRepository(request.repository) };
}
