import type { Duplex } from 'node:stream';
import type { NetworkPolicy } from '@vitto/contracts';
import type { Logger } from '../../kernel/logger.ts';
import type { Dial } from '../../kernel/network/dial.ts';
import { GitTransport } from '../git/git-transport.ts';
import { EgressProxy } from '../network/egress-proxy.ts';
import type { MachineOwner } from '../sessions/start-machine.ts';

export interface SandboxLinksOptions {
  /** What a user's VMs may reach, until the user's next `acquire` says it. */
  policyOf: (userId: string) => Promise<NetworkPolicy>;
  logger: Logger;
  /** Opens connections to the outside; the strict one by default. */
  dial?: Dial;
  dialPrivate?: Dial;
}

interface Links {
  userId: string;
  proxy: EgressProxy;
  git: GitTransport;
}

const NOTHING: NetworkPolicy = { packageRegistries: false, hosts: [] };

/** What the streams of each VM are joined to: its way out and its git. Both end with it, and its keys with them. */
export class SandboxLinks {
  readonly #options: SandboxLinksOptions;
  readonly #links = new Map<string, Links>();
  readonly #policies = new Map<string, NetworkPolicy>();

  constructor(options: SandboxLinksOptions) {
    this.#options = options;
  }

  /** Joins a stream that a guest has opened. */
  join(of: MachineOwner, what: string, about: string, stream: Duplex): void {
    if (what === 'proxy') this.of(of).proxy.accept(stream);
    else if (what === 'git') this.of(of).git.accept(Buffer.from(about), stream);
    else stream.destroy(new Error('not available'));
  }

  of({ sandboxId, userId }: MachineOwner): Links {
    const known = this.#links.get(sandboxId);
    if (known !== undefined) return known;
    const { logger, dial, dialPrivate } = this.#options;
    const shared = { vmId: sandboxId, logger, ...(dial === undefined ? {} : { dial }) };
    const links: Links = {
      userId,
      proxy: new EgressProxy({ ...shared, policy: this.#policies.get(userId) ?? NOTHING }),
      git: new GitTransport({ ...shared, ...(dialPrivate === undefined ? {} : { dialPrivate }) }),
    };
    this.#links.set(sandboxId, links);
    if (!this.#policies.has(userId)) void this.#readPolicy(userId);
    return links;
  }

  find(sandboxId: string): Links | undefined {
    return this.#links.get(sandboxId);
  }

  close(sandboxId: string): void {
    const links = this.#links.get(sandboxId);
    this.#links.delete(sandboxId);
    links?.proxy.close();
    links?.git.close();
    if (links === undefined || [...this.#links.values()].some((other) => other.userId === links.userId))
      return;
    this.#policies.delete(links.userId);
  }

  setPolicy(userId: string, policy: NetworkPolicy): void {
    this.#policies.set(userId, policy);
    for (const links of this.#links.values()) if (links.userId === userId) links.proxy.setPolicy(policy);
  }

  async #readPolicy(userId: string): Promise<void> {
    try {
      const policy = await this.#options.policyOf(userId);
      // What was said in the meantime is newer.
      if (!this.#policies.has(userId)) this.setPolicy(userId, policy);
    } catch (error) {
      this.#options.logger.warn({ err: error, userId }, 'what VMs may reach could not be read: nothing');
    }
  }
}
