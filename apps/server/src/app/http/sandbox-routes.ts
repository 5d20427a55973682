import { sandboxOverview, templateName, type SandboxInfo } from '@vitto/contracts';
import { z } from 'zod';
import { idParams, nothing, viewerOf, type Viewer, type WebApp } from '../../channels/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import {
  joinConnection,
  requireSshUpgrade,
  type SandboxHost,
  type SandboxHosts,
} from '../../sandbox/index.ts';
import { addSandboxExecRoute, type SandboxRouteDependencies } from './sandbox-exec-route.ts';

const tags = ['sandbox'];

/** Machines for people: their own, and for who keeps the installation all of them, with the hosts. */
export function addSandboxRoutes(app: WebApp, deps: SandboxRouteDependencies): void {
  const { sandboxHosts: hosts } = deps;
  app.get(
    '/api/sandbox',
    {
      schema: {
        tags,
        summary: 'My machines; for the owner and admins all machines, and the hosts with their images',
        response: { 200: sandboxOverview },
      },
    },
    async (request) => {
      const viewer = viewerOf(request);
      if (isKeeper(viewer)) return hosts.overview();
      return { ...(await hosts.overview(viewer.userId)), hosts: [] };
    },
  );
  addActRoutes(app, hosts);
  app.post(
    '/api/sandbox/images/:name/build',
    {
      config: { audit: { action: 'image.build-started', object: 'image' } },
      schema: {
        tags,
        summary: 'Begin to build an image on every host; the overview says how far it is',
        params: z.object({ name: templateName }),
        response: { 202: nothing },
      },
    },
    async (request, reply) => {
      requireKeeper(viewerOf(request));
      await hosts.buildImage(request.params.name);
      return reply.code(202).send(undefined);
    },
  );
  addSandboxExecRoute(app, deps);
  addSshRoute(app, hosts);
}

function addActRoutes(app: WebApp, hosts: SandboxHosts): void {
  const acts = [
    ['snapshot', 'sandbox.snapshotted', 'Take its snapshot now and suspend it', true],
    ['destroy', 'sandbox.destroyed', 'End it without a snapshot; its disk is kept', true],
    ['forget', 'sandbox.forgotten', 'Remove all that is kept of it: disk and snapshot', false],
  ] as const;
  for (const [act, action, summary, isForKeepers] of acts) {
    app.post(
      `/api/sandbox/:id/${act}`,
      {
        config: { audit: { action, object: 'sandbox' } },
        schema: { tags, summary, params: idParams, response: { 204: nothing } },
      },
      async (request, reply) => {
        const { host, sandbox } = await findFor(hosts, request.params.id, viewerOf(request), isForKeepers);
        await host[act](sandbox.id, sandbox.userId);
        return reply.code(204).send(undefined);
      },
    );
  }
}

function addSshRoute(app: WebApp, hosts: SandboxHosts): void {
  app.post(
    '/api/sandbox/:id/ssh',
    {
      config: { audit: { none: 'it becomes a stream; the entry is written before' } },
      schema: {
        tags,
        summary: 'A byte stream to an sshd in my machine, for whoever holds the private half of the key',
        description:
          'Send `connection: upgrade` and `upgrade: vitto-ssh`; the answer is 101 and then the bytes of SSH.',
        params: idParams,
        querystring: z.strictObject({ publicKey: z.string().min(1).max(8_192) }),
        response: { 101: nothing },
      },
    },
    async (request, reply) => {
      const { userId } = viewerOf(request);
      const { host, sandbox } = await hosts.find(request.params.id, userId);
      requireSshUpgrade(request);
      // It is started where it does not run, and runs for as long as the stream is open.
      const stream = await host.openSsh(sandbox.id, { userId, publicKey: request.query.publicKey });
      await request.recordAudit({ action: 'sandbox.shell-opened', object: 'sandbox', objectId: sandbox.id });
      joinConnection(request, reply, stream);
      return reply;
    },
  );
}

/** Who keeps the installation may end any machine; what is in it is its user's alone. */
function findFor(
  hosts: SandboxHosts,
  id: string,
  viewer: Viewer,
  isForKeepers: boolean,
): Promise<{ host: SandboxHost; sandbox: SandboxInfo }> {
  return hosts.find(id, isForKeepers && isKeeper(viewer) ? undefined : viewer.userId);
}

function isKeeper({ role }: Viewer): boolean {
  return role === 'owner' || role === 'admin';
}

/** @throws AppError `sandbox.not-allowed` (403). */
function requireKeeper(viewer: Viewer): void {
  if (isKeeper(viewer)) return;
  throw new AppError('sandbox.not-allowed', 'Only the owner and admins may do this.', {
    status: 403,
    hint: 'Ask one of them.',
  });
}
