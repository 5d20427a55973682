import { addDeployKey, deployKey, scanHostKeys, scannedHostKeys } from '@vitto/contracts';
import { z } from 'zod';
import { nothing, viewerOf, type WebApp } from '../../channels/index.ts';
import type { DeployKeys } from '../../identity/index.ts';

/** Keys with which git of a user's machines reaches repositories. Private halves go in, or are made here, and stay. */
export function addDeployKeyRoutes(
  app: WebApp,
  deps: { deployKeys: DeployKeys; scansPerMinute: number },
): void {
  const { deployKeys } = deps;
  const tags = ['settings'];

  app.get(
    '/api/deploy-keys',
    {
      schema: {
        tags,
        summary: 'My deploy keys, without their private halves',
        response: { 200: z.object({ items: z.array(deployKey) }) },
      },
    },
    async (request) => ({ items: await deployKeys.list(viewerOf(request).userId) }),
  );

  app.post(
    '/api/deploy-keys',
    {
      config: {
        audit: {
          action: 'deploy-key.added',
          object: 'deploy-key',
          detail: (_request, answer) => ({ repository: String(answer['repository']) }),
        },
      },
      schema: {
        tags,
        summary: 'Add a deploy key for a repository',
        description:
          'Without `privateKey` one is made; add its `publicKey` to the repository. Without `hostKeys` they are taken from the server where its forge publishes them; else ask for them first and have a person compare them.',
        body: addDeployKey,
        response: { 201: deployKey },
      },
    },
    async (request, reply) => {
      const added = await deployKeys.add(viewerOf(request).userId, request.body);
      return reply.code(201).send(added);
    },
  );

  app.post(
    '/api/deploy-keys/host-keys',
    {
      config: {
        audit: { none: 'nothing changes' },
        rateLimit: { max: deps.scansPerMinute, timeWindow: '1 minute' },
      },
      schema: {
        tags,
        summary: 'The keys that the server of a repository shows now',
        body: scanHostKeys,
        response: { 200: scannedHostKeys },
      },
    },
    (request) => deployKeys.scan(viewerOf(request).userId, request.body.repository),
  );

  app.delete(
    '/api/deploy-keys/:id',
    {
      config: { audit: { action: 'deploy-key.deleted', object: 'deploy-key' } },
      schema: {
        tags,
        summary: 'Delete a deploy key; machines that have the use of it lose it',
        params: z.object({ id: z.uuid() }),
        response: { 204: nothing },
      },
    },
    async (request, reply) => {
      await deployKeys.remove(viewerOf(request).userId, request.params.id);
      return reply.code(204).send(undefined);
    },
  );
}
