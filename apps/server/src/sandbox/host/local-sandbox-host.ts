import { freemem, totalmem } from 'node:os';
import type { Duplex } from 'node:stream';
import type {
  CreatedSandbox,
  NetworkPolicy,
  SandboxCaller,
  SandboxHostInfo,
  SandboxInfo,
  UserSandbox,
  VmGuestSession,
} from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import type { ImageService } from '../images/image-service.ts';
import {
  VmSessionManagerService,
  type SessionManagerOptions,
} from '../sessions/vm-session-manager-service.ts';
import type { SessionEvents } from '../sessions/session-types.ts';
import { findImage } from './find-image.ts';
import type { AcquireRequest, Releaser, RepositoryGrant, SandboxHost } from './sandbox-host.ts';
import { SandboxLinks, type SandboxLinksOptions } from './sandbox-links.ts';
import { SshAccess } from './ssh-access.ts';

export interface LocalSandboxHostOptions
  extends
    Omit<SessionManagerOptions, 'findImage' | 'onStream' | 'events'>,
    Omit<SandboxLinksOptions, 'logger'> {
  images: Pick<ImageService, 'find' | 'list' | 'build'>;
  /** Told of each claim that ends otherwise than by its task's `release`. */
  onClaimEnded?: SessionEvents['onClaimEnded'];
}

/** The sandbox host of this process: its sessions, images, and what its VMs are joined to. */
export class LocalSandboxHost implements SandboxHost {
  readonly url = null;
  readonly #options: LocalSandboxHostOptions;
  readonly #manager: VmSessionManagerService;
  readonly #links: SandboxLinks;
  readonly #ssh: SshAccess;

  constructor(options: LocalSandboxHostOptions) {
    this.#options = options;
    const { images, onClaimEnded } = options;
    this.#links = new SandboxLinks(options);
    this.#manager = new VmSessionManagerService({
      ...options,
      findImage: (template, hash) => findImage(images, template, hash),
      onStream: (of, what, about, stream) => this.#links.join(of, what, about, stream),
      events: {
        onDown: ({ sandboxId }) => this.#links.close(sandboxId),
        ...(onClaimEnded === undefined ? {} : { onClaimEnded }),
      },
    });
    this.#ssh = new SshAccess(this.#manager);
  }

  /** Takes the host over from an earlier process. @throws when the database or the folder cannot be used. */
  start(): Promise<void> {
    return this.#manager.start();
  }

  /** Suspends all VMs; those that take longer than the limit are ended, their disks kept. */
  stop(limitMs?: number): Promise<void> {
    return this.#manager.stop(limitMs);
  }

  async info(): Promise<SandboxHostInfo> {
    const { provider, images, name } = this.#options;
    const { available, accelerator, version, reason, hint } = await provider.health();
    return {
      id: this.#manager.hostId,
      name,
      url: this.#options.url,
      isReachable: true,
      provider: provider.name,
      accelerator,
      version,
      reason: available ? null : reason,
      hint: available ? null : hint,
      ...this.#manager.counts,
      memory: { totalBytes: totalmem(), freeBytes: freemem() },
      images: await images.list(),
    };
  }

  list(userId?: string): Promise<SandboxInfo[]> {
    return this.#manager.list(userId);
  }

  userSandbox(userId: string): Promise<UserSandbox> {
    return this.#manager.userSandbox(userId);
  }

  async buildImage(name: string): Promise<void> {
    const { images, logger } = this.#options;
    const info = (await images.list()).find((image) => image.name === name);
    if (info === undefined)
      throw new AppError('sandbox.no-such-template', `There is no image "${name}".`, { status: 404 });
    if (info.state === 'missing' && info.problem !== null)
      throw new AppError('sandbox.cannot-build', info.problem, { status: 409 });
    images.build(name).catch((error: unknown) => {
      logger.warn({ err: error, image: name }, 'an image could not be built');
    });
  }

  acquire(request: AcquireRequest): Promise<CreatedSandbox> {
    this.#links.setPolicy(request.userId, request.network);
    return this.#manager.acquire(request);
  }

  release(sandboxId: string, releaser: Releaser, how?: { isBroken?: boolean }): Promise<void> {
    return this.#manager.release(sandboxId, releaser, how);
  }

  guest(sandboxId: string, caller: SandboxCaller): VmGuestSession {
    return this.#manager.guest(sandboxId, caller);
  }

  snapshot(sandboxId: string, userId: string): Promise<void> {
    return this.#manager.snapshot(sandboxId, userId);
  }

  destroy(sandboxId: string, userId: string): Promise<void> {
    return this.#manager.destroy(sandboxId, userId);
  }

  forget(sandboxId: string, userId: string): Promise<void> {
    return this.#manager.forget(sandboxId, userId);
  }

  async setNetworkPolicy(userId: string, policy: NetworkPolicy): Promise<void> {
    this.#links.setPolicy(userId, policy);
  }

  async grantRepository(sandboxId: string, grant: RepositoryGrant): Promise<void> {
    this.#links.of(this.#manager.sandboxOf(sandboxId)).git.grant(grant);
  }

  async revokeRepository(sandboxId: string, repository: string): Promise<void> {
    // Where nothing runs there are no keys.
    this.#links.find(sandboxId)?.git.revoke(repository);
  }

  async allowPush(
    sandboxId: string,
    repository: string,
    forMs: number,
  ): Promise<{ withdraw: () => Promise<void> }> {
    const { git } = this.#links.of(this.#manager.sandboxOf(sandboxId));
    const { withdraw } = git.allowPush(repository, forMs);
    return { withdraw: async () => withdraw() };
  }

  openSsh(sandboxId: string, request: { userId: string; publicKey: string }): Promise<Duplex> {
    return this.#ssh.open(sandboxId, request);
  }
}
