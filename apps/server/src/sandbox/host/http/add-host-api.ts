import { addGitRoutes } from './git-routes.ts';
import { addGuestRoutes } from './guest-routes.ts';
import type { HostApiDependencies, HostApp } from './host-app.ts';
import { requireHostToken } from './host-token.ts';
import { addMachineRoutes } from './machine-routes.ts';
import { addSshRoute } from './ssh-route.ts';

/**
 * The API of a sandbox host (specification 02): `/infrastructure/sandbox/*` for servers and workers that show its token.
 * The app's validator and error handler are the caller's; see `app/http/create-sandbox-server.ts`.
 */
export function addHostApi(app: HostApp, deps: HostApiDependencies): void {
  requireHostToken(app, deps);
  addMachineRoutes(app, deps);
  addGuestRoutes(app, deps);
  addGitRoutes(app, deps);
  addSshRoute(app, deps);
}
