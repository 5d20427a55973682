import { setTimeout as delay } from 'node:timers/promises';
import type {
  CreatedSandbox,
  NetworkPolicy,
  SandboxHostInfo,
  SandboxInfo,
  SandboxOverview,
} from '@vitto/contracts';
import { AppError, describeError, notFound } from '../../kernel/app-error.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { HostPool } from '../tool-proxy/host-pool.ts';
import { KnownHost, LOOK_MS, within } from './known-host.ts';
import type { AcquireRequest, SandboxHost } from './sandbox-host.ts';

/** How long a user's machine on a host that does not answer is waited for before the task is told, in milliseconds. */
const TAKE_OVER_MS = 90_000;
const TAKE_OVER_POLL_MS = 2_000;

export interface SandboxHostsOptions {
  /** The one of this process, or those of `VITTO_SANDBOX_URL`; none: there is no VM tier. */
  hosts: readonly SandboxHost[];
  logger: Logger;
  takeOverMs?: number;
  takeOverPollMs?: number;
}

interface Look {
  known: KnownHost;
  info: SandboxHostInfo;
}

/**
 * All sandbox hosts that this process may ask. A user's session goes where the user's machine is, else to the least
 * loaded host that has the image; hosts that do not answer are passed over and asked again later.
 */
export class SandboxHosts implements HostPool {
  readonly #known: readonly KnownHost[];
  readonly #options: SandboxHostsOptions;

  constructor(options: SandboxHostsOptions) {
    this.#options = options;
    this.#known = options.hosts.map((host) => new KnownHost(host, options.logger));
  }

  hosts(): readonly SandboxHost[] {
    return this.#options.hosts;
  }

  async infos(): Promise<SandboxHostInfo[]> {
    return Promise.all(this.#known.map((known) => known.look()));
  }

  /** @throws AppError `sandbox.…`, as `SandboxHost.acquire`; `sandbox.unreachable` when no host answers. */
  async acquire(
    request: AcquireRequest,
  ): Promise<{ host: SandboxHost; name: string; sandbox: CreatedSandbox }> {
    const deadline = performance.now() + (this.#options.takeOverMs ?? TAKE_OVER_MS);
    const notices: string[] = [];
    /** The host that is said to have the user's machine. */
    let elsewhere: string | null = null;
    for (;;) {
      const { known, info } = await this.#choose(request, elsewhere);
      try {
        const sandbox = await known.host.acquire(request);
        return {
          host: known.host,
          name: info.name,
          sandbox: { ...sandbox, notices: [...notices, ...sandbox.notices] },
        };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        if (error.code === 'sandbox.unreachable') {
          known.noteAway(error.message);
          notices.push(`The sandbox host ${info.name} does not answer.`);
        } else if (error.code === 'sandbox.elsewhere') {
          elsewhere = String(error.details?.['hostId'] ?? '');
          if (!(await this.#isThere(elsewhere))) await this.#waitForTakeOver(request, error, deadline);
        } else throw error;
      }
    }
  }

  /** A user's machine (anybody's, without one) and the host that it is on. @throws AppError `sandbox.not-found`, `sandbox.unreachable`. */
  async find(sandboxId: string, userId?: string): Promise<{ host: SandboxHost; sandbox: SandboxInfo }> {
    const lists = await Promise.all(this.#known.map((known) => this.#list(known, userId)));
    for (const { known, sandboxes } of lists) {
      const sandbox = sandboxes?.find(({ id }) => id === sandboxId);
      if (sandbox !== undefined) return { host: known.host, sandbox };
    }
    const silent = lists.find(({ sandboxes }) => sandboxes === null);
    if (silent === undefined) throw notFound('sandbox');
    throw unreachable((await silent.known.look()).reason ?? 'a sandbox host does not answer');
  }

  /** Hosts and machines, of one user or of everybody; what does not answer in time is shown as away. */
  async overview(userId?: string): Promise<SandboxOverview> {
    const [hosts, lists] = await Promise.all([
      this.infos(),
      Promise.all(this.#known.map((known) => this.#list(known, userId))),
    ]);
    return { hosts, sandboxes: lists.flatMap(({ sandboxes }) => sandboxes ?? []) };
  }

  /** Tells every host; one that does not answer is told with the user's next session. */
  async setNetworkPolicy(userId: string, policy: NetworkPolicy): Promise<void> {
    const told = this.#known.map((known) =>
      known.host
        .setNetworkPolicy(userId, policy)
        .catch((error: unknown) => known.noteAway(describeError(error))),
    );
    await Promise.all(told);
  }

  /** @throws AppError `sandbox.unreachable` when no host answers, or as `SandboxHost.buildImage`. */
  async buildImage(name: string): Promise<void> {
    const looks = await this.#reachable();
    await Promise.all(looks.map(({ known }) => known.host.buildImage(name)));
  }

  async #choose(request: AcquireRequest, elsewhere: string | null): Promise<Look> {
    const looks = await this.#reachable();
    const told = looks.find(({ info }) => info.id === elsewhere);
    if (told !== undefined) return told;
    if (looks.length > 1) {
      const lists = await Promise.all(looks.map(({ known }) => this.#list(known, request.userId)));
      const home = lists.findIndex(({ sandboxes }) =>
        (sandboxes ?? []).some(({ template }) => template === request.template),
      );
      if (home >= 0) return looks[home] as Look;
    }
    return looks.toSorted((left, right) => compareHosts(left.info, right.info, request.template))[0] as Look;
  }

  /** At least one. */
  async #reachable(): Promise<Look[]> {
    const looks = await Promise.all(this.#known.map(async (known) => ({ known, info: await known.look() })));
    if (looks.length === 0) {
      throw new AppError('sandbox.unavailable', 'This installation has no sandbox host.', {
        status: 503,
        hint: 'Give this process the role sandbox, or VITTO_SANDBOX_URL the address of a host.',
      });
    }
    const reachable = looks.filter(({ info }) => info.isReachable);
    if (reachable.length === 0) throw unreachable(looks[0]?.info.reason ?? 'no sandbox host answers');
    return reachable;
  }

  async #isThere(hostId: string): Promise<boolean> {
    return (await this.infos()).some(({ id, isReachable }) => id === hostId && isReachable);
  }

  /** The machine is on a host that is away. The others take it over once it has been away for long enough. */
  async #waitForTakeOver(request: AcquireRequest, error: AppError, deadline: number): Promise<void> {
    if (performance.now() > deadline) throw error;
    request.onWaiting?.({
      place: 1,
      reason: 'The host of your VM does not answer; another takes over in a moment.',
    });
    await delay(this.#options.takeOverPollMs ?? TAKE_OVER_POLL_MS, undefined, {
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
  }

  async #list(known: KnownHost, userId: string | undefined) {
    if (!(await known.look()).isReachable) return { known, sandboxes: null };
    try {
      return { known, sandboxes: await within(LOOK_MS, known.host.list(userId)) };
    } catch (error) {
      known.noteAway(describeError(error));
      return { known, sandboxes: null };
    }
  }
}

/** The better one first: VMs can be had there, the image is ready, there is room, few wait. */
function compareHosts(left: SandboxHostInfo, right: SandboxHostInfo, template: string): number {
  const rank = (info: SandboxHostInfo) => [
    info.reason === null ? 0 : 1,
    info.images.some(({ name, state }) => name === template && state === 'ready') ? 0 : 1,
    info.accelerator === 'kvm' ? 0 : 1,
    (info.running + info.waiting) / Math.max(1, info.maxConcurrent),
  ];
  const [mine, theirs] = [rank(left), rank(right)];
  const at = mine.findIndex((value, index) => value !== theirs[index]);
  return at < 0 ? 0 : (mine[at] ?? 0) - (theirs[at] ?? 0);
}

function unreachable(why: string): AppError {
  return new AppError('sandbox.unreachable', `No sandbox host answers: ${why}`, {
    status: 503,
    hint: 'See docs/runbooks/sandbox-host.md for what to look at; hosts are asked again all the time.',
  });
}
