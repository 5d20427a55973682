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

/**
 * A sandbox host as servers and workers see it: in this process (`LocalSandboxHost`) or over HTTP
 * (`VmApiClientService`); one contract test runs over both. Expected refusals are `AppError`s with a code `sandbox.…`
 * (they cross HTTP as problem details), those of calls into a guest are `GuestError`s.
 */
export interface SandboxHost {
  /** `null`: in this process. */
  readonly url: string | null;

  info(): Promise<SandboxHostInfo>;
  /** The machines of one user on this host, or of everybody. */
  list(userId?: string): Promise<SandboxInfo[]>;
  userSandbox(userId: string): Promise<UserSandbox>;

  /**
   * A session for a task's claim, by the acquire ladder. The same claim again is the same session; simultaneous
   * acquires of one user and template get one session.
   * @throws AppError `sandbox.unavailable`, `sandbox.image-missing`, `sandbox.image-building`, `sandbox.start-failed`,
   *   `sandbox.elsewhere` (`details.hostId`: the user's session lives there), `sandbox.stale-fence`.
   */
  acquire(request: AcquireRequest): Promise<CreatedSandbox>;
  /**
   * Lets a claim go. `isBroken`: the session is destroyed, not snapshotted. Idempotent.
   * @throws AppError `sandbox.stale-fence`: it is a later owner's by now.
   */
  release(sandboxId: string, releaser: Releaser, how?: { isBroken?: boolean }): Promise<void>;

  /** Calls into the guest. Nothing is asked before the first call; each call names its caller. */
  guest(sandboxId: string, caller: SandboxCaller): VmGuestSession;

  /** Snapshots and suspends now, whatever claims it has. @throws AppError `sandbox.not-found` (another user's too). */
  snapshot(sandboxId: string, userId: string): Promise<void>;
  /** Ends the VM; the disk is kept. Idempotent. */
  destroy(sandboxId: string, userId: string): Promise<void>;
  /** Removes everything that is kept of it: disk and snapshots. Idempotent. */
  forget(sandboxId: string, userId: string): Promise<void>;

  /** What the user's VMs may reach from now on; also told at `acquire`. */
  setNetworkPolicy(userId: string, policy: NetworkPolicy): Promise<void>;
  /** Lets the host's git transport use a key for one repository from this VM. The key stays in the host's memory. */
  grantRepository(sandboxId: string, grant: RepositoryGrant): Promise<void>;
  /** Takes a key back; connections that use it end. Idempotent. */
  revokeRepository(sandboxId: string, repository: string): Promise<void>;
  /** A push to this repository is allowed from this VM until `withdraw`, or for `forMs` at most. */
  allowPush(sandboxId: string, repository: string, forMs: number): Promise<{ withdraw: () => Promise<void> }>;

  /**
   * Begins to build the image of a template, unless that is under way; `info().images` says how far it is.
   * @throws AppError `sandbox.no-such-template`, `sandbox.cannot-build` with what is missing here.
   */
  buildImage(name: string): Promise<void>;

  /** A byte stream to an sshd of the guest for whoever holds the private half of `publicKey`. */
  openSsh(sandboxId: string, request: { userId: string; publicKey: string }): Promise<Duplex>;
}

/** Who lets a claim go. `fence` is `null` for whoever clears up after a task that has ended: no owner can come any more. */
export interface Releaser {
  taskId: string;
  fence: number | null;
}

export interface AcquireRequest {
  taskId: string;
  userId: string;
  template: string;
  fence: number;
  network: NetworkPolicy;
  /** Its place in the line, each time it changes. */
  onWaiting?: (waiting: SandboxWaiting) => void;
  signal?: AbortSignal;
}

export interface RepositoryGrant {
  /** `ssh://git@host[:port]/path`, normalised by `normalizeRepository`. */
  repository: string;
  /** OpenSSH private key. */
  privateKey: string;
  /** Public host keys in the form of known_hosts, any of which the server must show. */
  hostKeys: string[];
  /** The owner of the installation named it: its server may stand in the private network. */
  mayBePrivate: boolean;
}
