import { AppError } from '../../kernel/app-error.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { SignalBus } from '../../kernel/signal-bus.ts';
import type { DeployKeys, OpenDeployKey } from '../../identity/index.ts';
import type { SandboxHost } from '../host/sandbox-host.ts';

export interface InjectorDependencies {
  deployKeys: Pick<DeployKeys, 'open' | 'noteUse'>;
  signals: Pick<SignalBus, 'listen'>;
  logger: Logger;
}

interface Furnished {
  host: SandboxHost;
  userId: string;
  repositories: Set<string>;
}

/**
 * Lets the git transport of a sandbox host use a user's deploy keys for their VMs. The keys go to the host's memory and
 * no further: nothing of them enters a guest. Keys that are added or deleted while a VM runs follow.
 */
export class VmCredentialInjectorService {
  readonly #deps: InjectorDependencies;
  readonly #vms = new Map<string, Furnished>();
  /** Ends the listening. */
  readonly stop: () => void;

  constructor(deps: InjectorDependencies) {
    this.#deps = deps;
    this.stop = deps.signals.listen((signal) => {
      if (signal.kind === 'changed' && signal.what === 'secrets') void this.#follow(signal.userId ?? null);
      // What changed while nobody listened is not known.
      if (signal.kind === 'reconnected') void this.#follow(null);
    });
  }

  /** Grants all keys of the user to the VM; what the user should know comes back, a sentence each. */
  async grant(host: SandboxHost, sandboxId: string, userId: string): Promise<string[]> {
    const { deployKeys, logger } = this.#deps;
    const keys = await deployKeys.open(userId);
    const vm: Furnished = { host, userId, repositories: new Set() };
    this.#vms.set(sandboxId, vm);
    const notices: string[] = [];
    for (const key of keys) {
      try {
        await give(vm, sandboxId, key);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        logger.warn(
          { err: error, sandboxId, repository: key.repository },
          'a deploy key could not be granted',
        );
        notices.push(`The deploy key of ${key.repository} cannot be used: ${error.message}`);
      }
    }
    if (keys.length > 0) await deployKeys.noteUse(userId);
    return notices;
  }

  /** `null`: whoever's. */
  async #follow(userId: string | null): Promise<void> {
    for (const [sandboxId, vm] of this.#vms) {
      if (userId !== null && vm.userId !== userId) continue;
      try {
        await this.#update(sandboxId, vm);
      } catch (error) {
        // Its keys went with the VM; a host that is away has them until it is back or ends.
        const isGone = error instanceof AppError && error.code === 'sandbox.not-found';
        if (isGone) this.#vms.delete(sandboxId);
        else this.#deps.logger.warn({ err: error, sandboxId }, 'changed deploy keys did not reach a VM');
      }
    }
  }

  async #update(sandboxId: string, vm: Furnished): Promise<void> {
    const keys = await this.#deps.deployKeys.open(vm.userId);
    for (const repository of vm.repositories) {
      if (keys.some((key) => key.repository === repository)) continue;
      await vm.host.revokeRepository(sandboxId, repository);
      vm.repositories.delete(repository);
    }
    for (const key of keys) if (!vm.repositories.has(key.repository)) await give(vm, sandboxId, key);
  }
}

async function give({ host, repositories }: Furnished, sandboxId: string, key: OpenDeployKey): Promise<void> {
  await host.grantRepository(sandboxId, key);
  repositories.add(key.repository);
}
