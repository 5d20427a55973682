import { createHash } from 'node:crypto';
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
  /** What was given, by repository, as a mark: a key that took the place of another one is not the same. */
  given: Map<string, string>;
  /** Settles when the work on it so far is done: one after the other, so that the newest list is what stays. */
  last: Promise<unknown>;
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
  grant(host: SandboxHost, sandboxId: string, userId: string): Promise<string[]> {
    const vm = this.#vms.get(sandboxId) ?? { host, userId, given: new Map(), last: Promise.resolve() };
    vm.host = host;
    this.#vms.set(sandboxId, vm);
    return inTurn(vm, () => this.#grantAll(sandboxId, vm));
  }

  async #grantAll(sandboxId: string, vm: Furnished): Promise<string[]> {
    const { deployKeys, logger } = this.#deps;
    const keys = await deployKeys.open(vm.userId);
    await withdraw(vm, sandboxId, keys);
    const notices: string[] = [];
    // All of them, whatever was given before: a VM that was put aside since has lost them.
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
    if (keys.length > 0) await deployKeys.noteUse(vm.userId);
    return notices;
  }

  /** `null`: whoever's. */
  async #follow(userId: string | null): Promise<void> {
    for (const [sandboxId, vm] of this.#vms) {
      if (userId !== null && vm.userId !== userId) continue;
      try {
        await inTurn(vm, () => this.#update(sandboxId, vm));
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
    await withdraw(vm, sandboxId, keys);
    for (const key of keys) if (!vm.given.has(key.repository)) await give(vm, sandboxId, key);
  }
}

function inTurn<T>(vm: Furnished, work: () => Promise<T>): Promise<T> {
  const done = vm.last.then(work);
  vm.last = done.catch(() => undefined);
  return done;
}

async function give({ host, given }: Furnished, sandboxId: string, key: OpenDeployKey): Promise<void> {
  await host.grantRepository(sandboxId, key);
  given.set(key.repository, markOf(key));
}

/** Takes back what is not among the keys any more. */
async function withdraw(
  { host, given }: Furnished,
  sandboxId: string,
  keys: readonly OpenDeployKey[],
): Promise<void> {
  const marks = new Map(keys.map((key) => [key.repository, markOf(key)]));
  for (const [repository, mark] of given) {
    if (marks.get(repository) === mark) continue;
    await host.revokeRepository(sandboxId, repository);
    given.delete(repository);
  }
}

/** Tells keys apart without keeping them. */
function markOf({ privateKey, hostKeys, mayBePrivate }: OpenDeployKey): string {
  return createHash('sha256')
    .update(JSON.stringify([privateKey, hostKeys, mayBePrivate]))
    .digest('base64');
}
