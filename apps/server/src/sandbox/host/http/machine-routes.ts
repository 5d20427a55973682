import type { SandboxWaiting } from '@vitto/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError, notFound } from '../../../kernel/app-error.ts';
import type { AcquireRequest } from '../sandbox-host.ts';
import { signalOf, wantsStream, type HostApiDependencies, type HostApp } from './host-app.ts';
import { SseWriter } from './sse-writer.ts';
import { API_ROOT, params, wire } from './wire.ts';

const ofUser = z.strictObject({ userId: z.uuid() });
const ofAnybody = ofUser.partial();

/** Machines: what there is, getting one, letting it go, ending it. */
export function addMachineRoutes(app: HostApp, deps: HostApiDependencies): void {
  const { host } = deps;
  app.get(`${API_ROOT}/health`, () => host.info());
  app.get(API_ROOT, { schema: { querystring: ofAnybody } }, (request) => host.list(request.query.userId));
  app.get(
    `${API_ROOT}/:id`,
    { schema: { params: params.sandbox, querystring: ofUser } },
    async ({ params: { id }, query: { userId } }) => {
      const found = (await host.list(userId)).find((one) => one.id === id);
      if (found === undefined) throw notFound('sandbox');
      return found;
    },
  );
  app.get(`${API_ROOT}/images`, async () => (await host.info()).images);
  app.post(`${API_ROOT}/images/:name/build`, { schema: { params: params.image } }, async (request, reply) => {
    await host.buildImage(request.params.name);
    return reply.code(202).send();
  });
  addAcquireRoutes(app, deps);
  addEndRoutes(app, deps);
}

function addAcquireRoutes(app: HostApp, deps: HostApiDependencies): void {
  app.post(`${API_ROOT}/create`, { schema: { body: wire.create } }, (request, reply) => {
    const { sessionId: taskId, ...rest } = request.body;
    return acquire(deps, { taskId, ...rest }, request, reply);
  });
  app.get(`${API_ROOT}/user/:userId`, { schema: { params: params.user } }, (request) =>
    deps.host.userSandbox(request.params.userId),
  );
  app.post(
    `${API_ROOT}/user/:userId/restore`,
    { schema: { params: params.user, body: wire.restore } },
    async (request, reply) => {
      const { userId } = request.params;
      const { template, snapshotAgeDays } = await deps.host.userSandbox(userId);
      if (template === null || snapshotAgeDays === null) {
        throw new AppError('sandbox.no-snapshot', 'This user has no snapshot on this host.', {
          status: 404,
          hint: `POST ${API_ROOT}/create starts without one.`,
        });
      }
      const { sessionId: taskId, ...rest } = request.body;
      return acquire(deps, { taskId, userId, template, ...rest }, request, reply);
    },
  );
  app.put(
    `${API_ROOT}/user/:userId/network`,
    { schema: { params: params.user, body: wire.network } },
    async (request, reply) => {
      await deps.host.setNetworkPolicy(request.params.userId, request.body);
      return reply.code(204).send();
    },
  );
}

/** As a stream it tells the place in the line while it waits. Who goes away stands in no line any more. */
async function acquire(
  deps: HostApiDependencies,
  wanted: AcquireRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const signal = signalOf(reply);
  if (!wantsStream(request)) return deps.host.acquire({ ...wanted, signal });
  const sse = new SseWriter(reply);
  const onWaiting = (waiting: SandboxWaiting) => void sse.send('waiting', JSON.stringify(waiting));
  const created = deps.host.acquire({ ...wanted, signal, onWaiting });
  await sse.finish('created', created, (error) => deps.describeError(error, request));
  return reply;
}

function addEndRoutes(app: HostApp, { host }: HostApiDependencies): void {
  app.post(
    `${API_ROOT}/:id/release`,
    { schema: { params: params.sandbox, body: wire.release } },
    async (request, reply) => {
      const { isBroken, ...releaser } = request.body;
      await host.release(request.params.id, releaser, { isBroken });
      return reply.code(204).send();
    },
  );
  app.post(
    `${API_ROOT}/:id/snapshot`,
    { schema: { params: params.sandbox, body: wire.ofUser } },
    async (request, reply) => {
      await host.snapshot(request.params.id, request.body.userId);
      return reply.code(204).send();
    },
  );
  app.delete(
    `${API_ROOT}/:id`,
    { schema: { params: params.sandbox, querystring: ofUser } },
    async (request, reply) => {
      await host.destroy(request.params.id, request.query.userId);
      return reply.code(204).send();
    },
  );
  app.post(
    `${API_ROOT}/:id/forget`,
    { schema: { params: params.sandbox, body: wire.ofUser } },
    async (request, reply) => {
      await host.forget(request.params.id, request.body.userId);
      return reply.code(204).send();
    },
  );
}
