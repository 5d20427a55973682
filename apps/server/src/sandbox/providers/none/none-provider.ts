import {
  ProviderError,
  type FoundVm,
  type MachineSnapshot,
  type ProviderHealth,
  type SandboxProvider,
  type Vm,
} from '../sandbox-provider.ts';

/** The VM tier switched off: nothing starts, nothing is kept. Commands run in the degraded mode, where it is allowed. */
export class NoneProvider implements SandboxProvider {
  readonly name = 'none';

  async health(): Promise<ProviderHealth> {
    const { message, hint = null } = switchedOff();
    return { available: false, accelerator: null, version: null, reason: message, hint, notices: [] };
  }
  async create(): Promise<Vm> {
    throw switchedOff();
  }
  async restore(): Promise<Vm> {
    throw switchedOff();
  }
  async suspend(): Promise<MachineSnapshot> {
    throw switchedOff();
  }
  async makeBaseSnapshot(): Promise<void> {
    throw switchedOff();
  }
  async readSnapshot(): Promise<null> {
    return null;
  }
  async hasBaseSnapshot(): Promise<boolean> {
    return false;
  }
  async imageHashOf(): Promise<null> {
    return null;
  }
  async adopt(): Promise<null> {
    return null;
  }
  letGo(): void {}
  async list(): Promise<FoundVm[]> {
    return [];
  }
  async destroy(): Promise<void> {}
  async forget(): Promise<void> {}
  async measure(): Promise<{ diskBytes: number; snapshotBytes: number }> {
    return { diskBytes: 0, snapshotBytes: 0 };
  }
}

function switchedOff(): ProviderError {
  return new ProviderError(
    'unavailable',
    'VMs are switched off on this host.',
    'Set VITTO_VM_PROVIDER=qemu to have them.',
  );
}
