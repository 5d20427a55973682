import { isSameSecret } from '../../../identity/index.ts';
import { AppError } from '../../../kernel/app-error.ts';
import type { HostApiDependencies, HostApp } from './host-app.ts';

/**
 * Lets in whoever shows the host's token, to every route but the two of supervisors.
 * Errors: `sandbox.bad-token` (401), `request.too-many` (429) for an address that is refused over and over.
 */
export function requireHostToken(
  app: HostApp,
  deps: Pick<HostApiDependencies, 'token' | 'noteRefusal'>,
): void {
  app.addHook('onRequest', async (request) => {
    const path = request.routeOptions.url;
    if (path === '/healthz' || path === '/readyz') return;
    const shown = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (isSameSecret(shown, deps.token)) return;
    const leftOut = deps.noteRefusal(request.ip);
    if (leftOut === null) {
      throw new AppError('request.too-many', 'This address was refused too often.', {
        status: 429,
        hint: 'Try again in a minute, with the VITTO_SANDBOX_TOKEN of this host.',
      });
    }
    request.log.warn({ address: request.ip, leftOut }, 'a request without the token of this sandbox host');
    throw new AppError('sandbox.bad-token', 'This sandbox host wants another token.', {
      status: 401,
      hint: 'Give the server and its hosts the same VITTO_SANDBOX_TOKEN.',
    });
  });
}
