import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxProvider, VmImage, VmSpec } from '../providers/sandbox-provider.ts';

/** What a host's VMs have; a base snapshot fits one size only. */
export type VmSizes = Pick<VmSpec, 'memoryMib' | 'cpus' | 'diskGib'>;
type Provider = Pick<SandboxProvider, 'hasBaseSnapshot' | 'makeBaseSnapshot'>;

/** The base snapshots of a host's images, made by its provider for the sizes that its VMs have. */
export class BaseSnapshots {
  readonly #options: { provider: Provider; vmFolder: string; sizes: VmSizes };

  /** `vmFolder`: of the provider; the machine that an image is booted in once lies there for that time. */
  constructor(options: { provider: Provider; vmFolder: string; sizes: VmSizes }) {
    this.#options = options;
  }

  isThere(image: VmImage): Promise<boolean> {
    return this.#options.provider.hasBaseSnapshot(this.#spec(image));
  }

  /** Does nothing when there is one that fits. @throws ProviderError */
  async ensure(image: VmImage): Promise<void> {
    const spec = this.#spec(image);
    try {
      await this.#options.provider.makeBaseSnapshot(spec);
    } finally {
      await rm(spec.machineFolder, { recursive: true, force: true });
    }
  }

  #spec(image: VmImage): VmSpec {
    const vmId = crypto.randomUUID();
    const machineFolder = join(this.#options.vmFolder, 'base', vmId);
    return { vmId, machineFolder, image, ...this.#options.sizes, userNumber: 0 };
  }
}
