import { pipeline, type Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../../kernel/app-error.ts';
import { asksForUpgrade, takeConnection } from '../../../kernel/network/http-upgrade.ts';
import type { HostApiDependencies, HostApp } from './host-app.ts';
import { API_ROOT, params, SSH_PROTOCOL, wire } from './wire.ts';

/** A connection that becomes the byte stream of an sshd in the guest. */
export function addSshRoute(app: HostApp, { host }: HostApiDependencies): void {
  app.post(
    `${API_ROOT}/:id/ssh`,
    { schema: { params: params.sandbox, querystring: wire.ssh } },
    async (request, reply) => {
      requireSshUpgrade(request);
      joinConnection(request, reply, await host.openSsh(request.params.id, request.query));
      return reply;
    },
  );
}

/** @throws AppError `sandbox.needs-upgrade` (426). */
export function requireSshUpgrade(request: FastifyRequest): void {
  if (asksForUpgrade(request.raw, SSH_PROTOCOL)) return;
  throw new AppError('sandbox.needs-upgrade', 'This address is a byte stream.', {
    status: 426,
    hint: `Send \`connection: upgrade\` and \`upgrade: ${SSH_PROTOCOL}\`; \`vitto vm ssh\` does.`,
  });
}

/** Joins the request's connection to a stream, both ways with back-pressure; the end of either ends both. */
export function joinConnection(request: FastifyRequest, reply: FastifyReply, stream: Duplex): void {
  reply.hijack();
  const socket = takeConnection(request.raw, reply.raw, SSH_PROTOCOL);
  pipeline(socket, stream, socket, () => undefined);
}
