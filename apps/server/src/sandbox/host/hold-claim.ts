import { newId } from '../../kernel/ids.ts';
import type { CreatedSandbox, NetworkPolicy, SandboxInfo, SandboxWaiting } from '@vitto/contracts';
import type { SandboxHost } from './sandbox-host.ts';
import type { SandboxHosts } from './sandbox-hosts.ts';

/** How often a claim is renewed that no task holds, in milliseconds: well before a session without one is suspended. */
const RENEW_MS = 20_000;

export interface HeldClaim {
  host: SandboxHost;
  /** What calls are made with, as a task makes them with its own. */
  taskId: string;
  sandbox: CreatedSandbox;
  letGo: () => Promise<void>;
}

/**
 * Keeps a person's machine running while the person uses it (a command, a shell), as a task's claim does.
 * @throws AppError `sandbox.…`, as `SandboxHost.acquire`.
 */
export async function holdClaim(
  hosts: SandboxHosts,
  of: Pick<SandboxInfo, 'userId' | 'template'>,
  options: { network: NetworkPolicy; signal?: AbortSignal; onWaiting?: (waiting: SandboxWaiting) => void },
): Promise<HeldClaim> {
  const { network, ...how } = options;
  const taskId = newId();
  const request = { taskId, userId: of.userId, template: of.template, fence: 0, network };
  const { host, sandbox } = await hosts.acquire({ ...request, ...how });
  // The same claim again is the same session. One that is lost meanwhile shows at the next call.
  const timer = setInterval(() => void host.acquire(request).catch(() => undefined), RENEW_MS);
  return {
    host,
    taskId,
    sandbox,
    letGo: async () => {
      clearInterval(timer);
      await host.release(sandbox.sandboxId, { taskId, fence: request.fence });
    },
  };
}
