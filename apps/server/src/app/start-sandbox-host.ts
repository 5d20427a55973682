import { AppError } from '../kernel/app-error.ts';
import { joinProcesses, removeDeadProcesses } from '../kernel/process-registry.store.ts';
import type { Config } from './config.ts';
import { createSandboxServer } from './http/create-sandbox-server.ts';
import { listenOn } from './listen-on.ts';
import { openLocalSandbox } from './local-sandbox.ts';
import { openInstallation } from './open-installation.ts';
import { createStops } from './stops.ts';
import { VERSION } from './version.ts';

/** A process that is a sandbox host for others and nothing else. */
export interface SandboxHostProcess {
  url: string;
  /** Closes its door, suspends its VMs, leaves. */
  stop: () => Promise<void>;
}

/**
 * Starts a sandbox host of its own: the API of hosts, on the database that its servers and workers use. `tell`: see
 * `startVitto`.
 */
export async function startSandboxHost(
  config: Config,
  tell: (line: string) => void = () => undefined,
): Promise<SandboxHostProcess> {
  const stops = createStops();
  try {
    const { token } = config.sandbox;
    if (token === null) throw new AppError('config.invalid', 'VITTO_SANDBOX_TOKEN is missing.');
    const installation = await openInstallation(config);
    stops.push(installation.close);
    const { database, logger } = installation;
    await removeDeadProcesses(database);
    const self = await joinProcesses(database, { roles: config.roles, version: VERSION });
    stops.push(self.leave);
    const { host, stop } = await openLocalSandbox(config, installation, tell);
    stops.push(stop);
    const app = await createSandboxServer({ host, token, database, logger });
    const url = await listenOn(app, config.host, config.port);
    stops.push(() => app.close());
    return { url, stop: stops.run };
  } catch (error) {
    await stops.run();
    throw error;
  }
}
