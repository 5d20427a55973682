import { secret, secretName, setSecret } from '@vitto/contracts';
import { z } from 'zod';
import { nothing, viewerOf, type WebApp } from '../../channels/index.ts';
import type { Secrets } from '../../identity/index.ts';

/** Named secrets. Their values go in here and come out nowhere. */
export function addSecretRoutes(app: WebApp, secrets: Secrets): void {
  const tags = ['settings'];
  const params = z.object({ name: secretName });

  app.get(
    '/api/secrets',
    {
      schema: {
        tags,
        summary: 'My secrets, without their values',
        response: { 200: z.object({ items: z.array(secret) }) },
      },
    },
    async (request) => ({ items: await secrets.list(viewerOf(request).userId) }),
  );

  app.put(
    '/api/secrets/:name',
    {
      config: { audit: { action: 'secret.set', object: 'secret' } },
      schema: {
        tags,
        summary: 'Set a secret',
        description:
          'Named as `{{secret:NAME}}` in the headers, variables or arguments of an MCP server. Its value is never shown again, and is masked wherever it turns up.',
        params,
        body: setSecret,
        response: { 204: nothing },
      },
    },
    async (request, reply) => {
      await secrets.set(viewerOf(request).userId, request.params.name, request.body.value);
      return reply.code(204).send(undefined);
    },
  );

  app.delete(
    '/api/secrets/:name',
    {
      config: { audit: { action: 'secret.deleted', object: 'secret' } },
      schema: { tags, summary: 'Delete a secret', params, response: { 204: nothing } },
    },
    async (request, reply) => {
      await secrets.remove(viewerOf(request).userId, request.params.name);
      return reply.code(204).send(undefined);
    },
  );
}
