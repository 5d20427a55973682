import { newId } from '../../../kernel/ids.ts';
import type { HostApiDependencies, HostApp } from './host-app.ts';
import { API_ROOT, params, wire } from './wire.ts';

/** What the host's git transport may do for a VM: a key for one repository, and pushes while they are allowed. */
export function addGitRoutes(app: HostApp, { host }: HostApiDependencies): void {
  const permits = new Map<string, { sandboxId: string; withdraw: () => Promise<void> }>();

  app.post(
    `${API_ROOT}/:id/inject-ssh-key`,
    { schema: { params: params.sandbox, body: wire.grant } },
    async (request, reply) => {
      const { keyContent: privateKey, repoUrl: repository, hostKeys, mayBePrivate } = request.body;
      await host.grantRepository(request.params.id, { repository, privateKey, hostKeys, mayBePrivate });
      return reply.code(204).send();
    },
  );

  app.post(
    `${API_ROOT}/:id/revoke-ssh-key`,
    { schema: { params: params.sandbox, body: wire.revocation } },
    async (request, reply) => {
      await host.revokeRepository(request.params.id, request.body.repoUrl);
      return reply.code(204).send();
    },
  );

  app.post(
    `${API_ROOT}/:id/push-permits`,
    { schema: { params: params.sandbox, body: wire.push } },
    async (request) => {
      const { repoUrl, forMs } = request.body;
      const { withdraw } = await host.allowPush(request.params.id, repoUrl, forMs);
      const permitId = newId();
      permits.set(permitId, { sandboxId: request.params.id, withdraw });
      setTimeout(() => permits.delete(permitId), forMs).unref();
      return { permitId };
    },
  );

  app.delete(
    `${API_ROOT}/:id/push-permits/:permitId`,
    { schema: { params: params.permit } },
    async (request, reply) => {
      const { id, permitId } = request.params;
      const permit = permits.get(permitId);
      if (permit?.sandboxId === id) {
        permits.delete(permitId);
        await permit.withdraw();
      }
      return reply.code(204).send();
    },
  );
}
