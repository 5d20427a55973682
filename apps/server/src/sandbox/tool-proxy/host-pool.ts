import type { CreatedSandbox, SandboxHostInfo } from '@vitto/contracts';
import type { AcquireRequest, SandboxHost } from '../host/sandbox-host.ts';

/** The sandbox hosts that this process may ask, as those who claim see them. */
export interface HostPool {
  /** Every host, also those that do not answer (`isReachable`). Never rejects. */
  infos(): Promise<SandboxHostInfo[]>;
  /**
   * A session on the host that fits best: where the user's session or snapshot is, else the least loaded one.
   * @throws AppError `sandbox.…`, as `SandboxHost.acquire`.
   */
  acquire(request: AcquireRequest): Promise<{ host: SandboxHost; name: string; sandbox: CreatedSandbox }>;
  hosts(): readonly SandboxHost[];
}
