import {
  GuestError,
  type CreatedSandbox,
  type DegradePolicy,
  type GuestSession,
  type NetworkPolicy,
  type SandboxOrigin,
  type SandboxWaiting,
} from '@vitto/contracts';
import { AppError, describeError } from '../../kernel/app-error.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Releaser, SandboxHost } from '../host/sandbox-host.ts';
import type { ProcessSandboxService } from '../providers/process/process-sandbox-service.ts';
import { chooseTemplate } from './choose-template.ts';
import { copyFolders, type CopyFoldersContext } from './copy-folders.ts';
import { stricterPolicy } from './degrade-policy.ts';
import { describeDegraded, describeVm } from './describe-place.ts';
import type { HostPool } from './host-pool.ts';

export interface ToolProxyOptions {
  pool: HostPool;
  processSandbox: Pick<
    ProcessSandboxService,
    'probe' | 'open' | 'close' | 'suspend' | 'refusedPaths' | 'sweep'
  >;
  /** The installation's; a user's own may be stricter. */
  degrade: DegradePolicy;
  developerTemplate: string;
  readSettings: (userId: string) => Promise<{ vmDegrade: DegradePolicy | null; network: NetworkPolicy }>;
  /** Lets the host's git transport use the user's deploy keys in this VM; what the user should know, a sentence each. */
  grantDeployKeys: (host: SandboxHost, sandboxId: string, userId: string) => Promise<string[]>;
  /** Folders of the server that no VM is given, whatever the user allows. */
  secretFolders: string[];
  logger: Logger;
}

/** The task and the number of its lease. */
export interface TaskOwner {
  id: string;
  fence: number;
}

/** Who claims. */
export interface ClaimingTask extends TaskOwner {
  userId: string;
  allowedPaths: string[];
}

export interface ProxyRequest {
  /** How its VM came last; `null`: it has had none. */
  vm: { vmId?: string | undefined; template?: string | undefined } | null;
  /** The image that was asked for; `null`: any that serves. */
  template: string | null;
  /** It has run in the process sandbox: its files are there. */
  isDegraded: boolean;
  /** What the user said to the process sandbox when asked, or beforehand who started the task. */
  degradation: 'approved' | 'refused' | 'beforehand' | null;
  onWaiting: (waiting: SandboxWaiting) => void;
  signal: AbortSignal;
}

export type ProxyClaim =
  | {
      kind: 'claimed';
      session: GuestSession;
      vm: {
        vmId: string;
        host: string;
        template: string;
        from: SandboxOrigin;
        restored: boolean;
        acquireTimeMs: number;
        notices: string[];
      } | null;
      degradedReason: string | null;
      notices: string[];
    }
  | { kind: 'ask'; reason: string; isPassing: boolean };

/** Why there is no VM. */
interface NoVm {
  reason: string;
  hint?: string | undefined;
  isPassing: boolean;
}

/**
 * Where the commands of tasks run: in a VM of the user, and in the process sandbox only where the policy lets them.
 * There is no third place: without either, VM tools are refused.
 */
export class SandboxedToolProxyService {
  readonly #options: ToolProxyOptions;
  readonly #claims = new Map<string, { host: SandboxHost; sandboxId: string; fence: number }>();

  constructor(options: ToolProxyOptions) {
    this.#options = options;
  }

  /**
   * The task's guest; the same claim again is the same session.
   * @throws GuestError `unavailable`; AppError `sandbox.stale-fence` when another owner of the task has claimed since.
   */
  async claim(task: ClaimingTask, request: ProxyRequest): Promise<ProxyClaim> {
    // Files are where the task began; and who has agreed to the process sandbox does not wait for another try.
    if (request.isDegraded || request.degradation === 'approved') {
      return this.#degrade(task, request, { reason: 'The task was let run without one.', isPassing: false });
    }
    const vm = await this.#claimVm(task, request);
    return 'reason' in vm ? this.#degrade(task, request, vm) : vm;
  }

  /**
   * Lets the task's VM push to a repository, until `withdraw` or for `forMs`.
   * @throws AppError `sandbox.not-found` when it has none.
   */
  allowPush(taskId: string, repository: string, forMs: number): Promise<{ withdraw: () => Promise<void> }> {
    const claim = this.#claims.get(taskId);
    if (claim === undefined) throw new AppError('sandbox.not-found', 'The task has no VM.', { status: 404 });
    return claim.host.allowPush(claim.sandboxId, repository, forMs);
  }

  /** Lets the claim on a VM go; what the task has in the process sandbox is kept. Never throws. */
  async rest({ id: taskId, fence }: TaskOwner): Promise<void> {
    const claim = this.#claims.get(taskId);
    // A later run of the task has claimed in the meantime: it is that one's.
    if (claim === undefined || claim.fence > fence) return;
    this.#claims.delete(taskId);
    await this.#letGo(claim.host, claim.sandboxId, { taskId, fence });
  }

  /** The task has ended: its claim is let go, its process sandbox removed. */
  async release(task: TaskOwner): Promise<void> {
    await this.rest(task);
    await this.#options.processSandbox.close(task.id);
  }

  /** Ends what runs in the process sandbox here and keeps its files; a VM is the next owner's, or swept. */
  async suspend(taskId: string): Promise<void> {
    await this.#options.processSandbox.suspend(taskId);
  }

  /** Whether a VM (of this image; `null`: of any that serves) could be had, by what the hosts say; nothing is started. */
  async canHaveVm(template: string | null): Promise<boolean> {
    const infos = await this.#options.pool.infos();
    return chooseTemplate(infos, this.#options.developerTemplate, template).kind === 'chosen';
  }

  /** Lets go and removes what tasks that are not live (any more) hold. Hosts that do not answer are left for later. */
  async sweep(isLive: (taskId: string) => Promise<boolean>): Promise<void> {
    const { pool, processSandbox, logger } = this.#options;
    await processSandbox.sweep(isLive);
    for (const host of pool.hosts()) {
      try {
        for (const sandbox of await host.list()) {
          for (const { taskId, isTask } of sandbox.claims) {
            // A person's goes with the person's connection, or by itself.
            if (!isTask || (await isLive(taskId))) continue;
            this.#claims.delete(taskId);
            await this.#letGo(host, sandbox.id, { taskId, fence: null });
          }
        }
      } catch (error) {
        logger.warn({ err: error, host: host.url }, 'claims on a sandbox host could not be cleared');
      }
    }
  }

  async #claimVm(task: ClaimingTask, request: ProxyRequest): Promise<ProxyClaim | NoVm> {
    const { pool, developerTemplate, readSettings } = this.#options;
    const choice = chooseTemplate(
      await pool.infos(),
      developerTemplate,
      request.vm?.template ?? request.template,
    );
    if (choice.kind === 'none') return choice;
    const { network } = await readSettings(task.userId);
    const { template } = choice;
    try {
      const { host, name, sandbox } = await pool.acquire({
        taskId: task.id,
        userId: task.userId,
        fence: task.fence,
        template,
        network,
        onWaiting: request.onWaiting,
        signal: request.signal,
      });
      this.#claims.set(task.id, { host, sandboxId: sandbox.sandboxId, fence: task.fence });
      const session = host.guest(sandbox.sandboxId, { taskId: task.id, fence: task.fence });
      const isNew = request.vm?.vmId !== sandbox.sandboxId || sandbox.from !== 'session';
      const notices = isNew ? await this.#furnish(task, request, host, sandbox, session) : [];
      if (request.vm === null) notices.unshift(describeVm(template, session.home, network));
      return {
        kind: 'claimed',
        session,
        vm: {
          vmId: sandbox.sandboxId,
          host: name,
          template,
          from: sandbox.from,
          restored: sandbox.restored,
          acquireTimeMs: sandbox.acquireTimeMs,
          notices: [...choice.notices, ...sandbox.notices],
        },
        degradedReason: null,
        notices: [...choice.notices, ...sandbox.notices, ...notices],
      };
    } catch (error) {
      request.signal.throwIfAborted();
      return toNoVm(error);
    }
  }

  /** Gives a machine what the task expects in it: the user's keys for git, and copies of the folders that are allowed. */
  async #furnish(
    task: ClaimingTask,
    { signal }: ProxyRequest,
    host: SandboxHost,
    { sandboxId }: CreatedSandbox,
    session: GuestSession,
  ): Promise<string[]> {
    const { grantDeployKeys, secretFolders, logger } = this.#options;
    const keys = await grantDeployKeys(host, sandboxId, task.userId).catch((error: unknown) => {
      signal.throwIfAborted();
      logger.warn({ err: error, taskId: task.id }, 'deploy keys could not be granted to a VM');
      return [`The user's deploy keys could not be granted to the VM: ${describeError(error)}`];
    });
    const context: CopyFoldersContext = { taskId: task.id, secretFolders, signal };
    return [...keys, ...(await copyFolders(session, task.allowedPaths, context))];
  }

  /** The process sandbox, where the policy lets it be; otherwise why not, and what to do. */
  async #degrade(task: ClaimingTask, request: ProxyRequest, why: NoVm): Promise<ProxyClaim> {
    const { processSandbox, degrade, readSettings } = this.#options;
    const policy = stricterPolicy(degrade, (await readSettings(task.userId)).vmDegrade);
    if (policy === 'never') {
      throw new GuestError('unavailable', `${why.reason} Commands may run in a VM only.`, why.hint ?? ALLOW);
    }
    const { available, reason, hint } = await processSandbox.probe();
    if (!available) {
      const hints = [why.hint, hint].filter((one) => one !== undefined && one !== null).join(' Or: ');
      throw new GuestError('unavailable', `${why.reason} ${reason ?? ''}`.trim(), hints);
    }
    const { degradation } = request;
    if (policy === 'ask' && (degradation === null || degradation === 'refused')) {
      if (degradation === null) return { kind: 'ask', reason: withHint(why), isPassing: why.isPassing };
      throw new GuestError('unavailable', `${why.reason} The user did not allow the process sandbox.`, TELL);
    }
    const session = await processSandbox.open({ taskId: task.id, readOnlyPaths: task.allowedPaths });
    const refused = await processSandbox.refusedPaths(task.id);
    const lacks = refused.map(({ path, reason: because }) => `Not shown in the sandbox: ${path}: ${because}`);
    if (!request.isDegraded) lacks.unshift(describeDegraded(why.reason));
    if (request.vm !== null && !request.isDegraded) lacks.push('Files of the VM are not here.');
    return { kind: 'claimed', session, vm: null, degradedReason: withHint(why), notices: lacks };
  }

  async #letGo(host: SandboxHost, sandboxId: string, releaser: Releaser): Promise<void> {
    try {
      await host.release(sandboxId, releaser);
    } catch (error) {
      // The host lets claims go by itself that make no call.
      this.#options.logger.warn({ err: error, ...releaser, sandboxId }, 'a claim could not be released');
    }
  }
}

const ALLOW = 'Set VITTO_VM_DEGRADE (and the own setting) to "ask" or "allow" to use the process sandbox.';
const TELL = 'Tell the user that commands cannot run, and go on without them if you can.';

function withHint({ reason, hint }: NoVm): string {
  return hint === undefined ? reason : `${reason} ${hint}`;
}

/** An expected refusal of a host is a reason; a stale fence and defects are not. */
function toNoVm(error: unknown): NoVm {
  if (error instanceof GuestError)
    return { reason: `${error.message}.`.replace(/\.+$/, '.'), hint: error.hint, isPassing: false };
  if (!(error instanceof AppError) || !error.code.startsWith('sandbox.')) throw error;
  if (error.code === 'sandbox.stale-fence') throw error;
  // A host that is away is asked until it answers. One that answers and starts no VM is not tried again and again.
  return { reason: error.message, hint: error.hint, isPassing: error.code === 'sandbox.unreachable' };
}
