import { SandboxHosts, VmApiClientService, type SandboxHost } from '../sandbox/index.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Config } from './config.ts';

/** Machines of their own, as this process has them: the hosts it asks. */
export interface SandboxTier {
  hosts: SandboxHosts;
  /** The host that this process is; `null`: it is none. */
  local: SandboxHost | null;
  stop: () => Promise<void>;
}

export function openSandboxTier(config: Config, logger: Logger): SandboxTier {
  const { urls, token } = config.sandbox;
  const clients = urls.map((url) => new VmApiClientService({ url, token: token ?? '' }));
  return {
    hosts: new SandboxHosts({ hosts: clients, logger }),
    local: null,
    stop: async () => {
      for (const client of clients) await client.close();
    },
  };
}
