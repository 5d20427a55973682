import type { Duplex } from 'node:stream';
import type {
  CreatedSandbox,
  NetworkPolicy,
  SandboxCaller,
  SandboxHostInfo,
  SandboxInfo,
  SandboxWaiting,
  UserSandbox,
  VmGuestSession,
} from '@vitto/contracts';
import { HostConnection } from './host-connection.ts';
import { SSH_PROTOCOL } from './http/wire.ts';
import { openUpgrade } from './open-upgrade.ts';
import { RemoteGuest } from './remote-guest.ts';
import type { AcquireRequest, Releaser, RepositoryGrant, SandboxHost } from './sandbox-host.ts';

const READ_MS = 5_000;
/** Writing a VM's memory down takes a while. */
const SUSPEND_MS = 300_000;
const CHANGE_MS = 30_000;

/** A sandbox host on another machine, over its HTTP API. Errors are those that it had there; `sandbox.unreachable` (503) is new. */
export class VmApiClientService implements SandboxHost {
  readonly url: string;
  readonly #host: HostConnection;

  constructor(options: { url: string; token: string }) {
    this.url = options.url;
    this.#host = new HostConnection(options);
  }

  async info(): Promise<SandboxHostInfo> {
    const info = await this.#host.read<SandboxHostInfo>({ path: '/health', limitMs: READ_MS });
    return { ...info, url: this.url };
  }

  list(userId?: string): Promise<SandboxInfo[]> {
    return this.#host.read({
      path: '',
      limitMs: READ_MS,
      ...(userId === undefined ? {} : { query: { userId } }),
    });
  }

  userSandbox(userId: string): Promise<UserSandbox> {
    return this.#host.read({ path: `/user/${userId}`, limitMs: READ_MS });
  }

  async acquire({ taskId, onWaiting, signal, ...wanted }: AcquireRequest): Promise<CreatedSandbox> {
    let created: CreatedSandbox | null = null;
    const body = { sessionId: taskId, ...wanted };
    await this.#host.stream({ path: '/create', body, signal }, (event, data) => {
      if (event === 'created') created = JSON.parse(data) as CreatedSandbox;
      if (event === 'waiting') onWaiting?.(JSON.parse(data) as SandboxWaiting);
    });
    if (created === null) throw this.#host.unreachable('the connection ended before a VM was there');
    return created;
  }

  async release(sandboxId: string, releaser: Releaser, how: { isBroken?: boolean } = {}): Promise<void> {
    const body = { ...releaser, ...how };
    await this.#host.call({ path: `/${sandboxId}/release`, body, limitMs: SUSPEND_MS });
  }

  guest(sandboxId: string, caller: SandboxCaller): VmGuestSession {
    return new RemoteGuest(this.#host, sandboxId, caller);
  }

  async snapshot(sandboxId: string, userId: string): Promise<void> {
    await this.#host.call({ path: `/${sandboxId}/snapshot`, body: { userId }, limitMs: SUSPEND_MS });
  }

  async destroy(sandboxId: string, userId: string): Promise<void> {
    const call = { path: `/${sandboxId}`, query: { userId }, limitMs: CHANGE_MS };
    await this.#host.call({ ...call, method: 'DELETE' });
  }

  async forget(sandboxId: string, userId: string): Promise<void> {
    await this.#host.call({ path: `/${sandboxId}/forget`, body: { userId }, limitMs: CHANGE_MS });
  }

  async setNetworkPolicy(userId: string, policy: NetworkPolicy): Promise<void> {
    const call = { path: `/user/${userId}/network`, body: policy, limitMs: CHANGE_MS };
    await this.#host.call({ ...call, method: 'PUT' });
  }

  async grantRepository(sandboxId: string, grant: RepositoryGrant): Promise<void> {
    const { privateKey: keyContent, repository: repoUrl, hostKeys, mayBePrivate } = grant;
    const body = { keyContent, repoUrl, hostKeys, mayBePrivate };
    await this.#host.call({ path: `/${sandboxId}/inject-ssh-key`, body, limitMs: CHANGE_MS });
  }

  async revokeRepository(sandboxId: string, repository: string): Promise<void> {
    const body = { repoUrl: repository };
    await this.#host.call({ path: `/${sandboxId}/revoke-ssh-key`, body, limitMs: CHANGE_MS });
  }

  async allowPush(
    sandboxId: string,
    repository: string,
    forMs: number,
  ): Promise<{ withdraw: () => Promise<void> }> {
    const path = `/${sandboxId}/push-permits`;
    const body = { repoUrl: repository, forMs };
    const { permitId } = await this.#host.call<{ permitId: string }>({ path, body, limitMs: CHANGE_MS });
    return {
      withdraw: () => this.#host.call({ method: 'DELETE', path: `${path}/${permitId}`, limitMs: CHANGE_MS }),
    };
  }

  async buildImage(name: string): Promise<void> {
    await this.#host.call({ path: `/images/${name}/build`, limitMs: CHANGE_MS });
  }

  openSsh(sandboxId: string, request: { userId: string; publicKey: string }): Promise<Duplex> {
    return openUpgrade(this.#host, { path: `/${sandboxId}/ssh`, query: request, protocol: SSH_PROTOCOL });
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    await this.#host.close();
  }
}
