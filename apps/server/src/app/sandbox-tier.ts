import { SandboxHosts, VmApiClientService, type SandboxHost } from '../sandbox/index.ts';
import type { Config } from './config.ts';
import { openLocalSandbox } from './local-sandbox.ts';
import type { Installation } from './open-installation.ts';

/** Machines of their own, as this process has them. */
export interface SandboxTier {
  /** The hosts that it asks: those of `VITTO_SANDBOX_URL`, else itself when it is one. */
  hosts: SandboxHosts;
  /** The host that this process is; `null`: it is none. */
  local: SandboxHost | null;
  stop: () => Promise<void>;
}

/** `tell`: what the host that this process is does meanwhile, a sentence each. */
export async function openSandboxTier(
  config: Config,
  installation: Installation,
  tell: (line: string) => void,
): Promise<SandboxTier> {
  const { urls, token } = config.sandbox;
  const clients = urls.map((url) => new VmApiClientService({ url, token: token ?? '' }));
  const local = config.roles.includes('sandbox') ? await openLocalSandbox(config, installation, tell) : null;
  const own = local === null ? [] : [local.host];
  return {
    hosts: new SandboxHosts({ hosts: clients.length > 0 ? clients : own, logger: installation.logger }),
    local: local?.host ?? null,
    stop: async () => {
      for (const client of clients) await client.close();
      await local?.stop();
    },
  };
}
