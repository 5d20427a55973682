import {
  modelProviderName,
  modelSetup,
  modelTest,
  setModelProvider,
  testModel as testModelBody,
} from '@vitto/contracts';
import { z } from 'zod';
import { nothing, viewerOf, type WebApp } from '../../channels/index.ts';
import type { ModelSetupService } from '../model-setup.ts';

/** Which models there are, the providers they come from, and one question to one of them. */
export function addModelRoutes(
  app: WebApp,
  deps: { modelSetup: ModelSetupService; testsPerMinute: number },
): void {
  addProviderRoutes(app, deps.modelSetup);

  app.get(
    '/api/models',
    { schema: { tags: ['models'], summary: 'Models and their providers', response: { 200: modelSetup } } },
    (request) => deps.modelSetup.read(viewerOf(request)),
  );

  app.post(
    '/api/models/test',
    {
      config: {
        scope: 'run',
        audit: { none: 'it changes nothing' },
        rateLimit: { max: deps.testsPerMinute, timeWindow: '1 minute' },
      },
      schema: {
        tags: ['models'],
        summary: 'Ask a model one short question',
        description:
          'Takes the path that tasks take, for at most 30 seconds. What it costs is told; it does not count against the daily cap. With `access` the provider is asked with that key and address, of which nothing is kept.',
        body: testModelBody,
        response: { 200: modelTest },
      },
    },
    (request) => deps.modelSetup.test(viewerOf(request), request.body.model, request.body.access),
  );
}

function addProviderRoutes(app: WebApp, setup: ModelSetupService): void {
  const tags = ['models'];
  const params = z.object({ name: modelProviderName });

  app.put(
    '/api/models/providers/:name',
    {
      config: { audit: { action: 'model-provider.set', object: 'model-provider' } },
      schema: {
        tags,
        summary: 'Set up a provider for the whole installation',
        description:
          'Its key is never shown again; without `apiKey` the stored one is kept. What the environment sets up cannot be changed here.',
        params,
        body: setModelProvider,
        response: { 204: nothing },
      },
    },
    async (request, reply) => {
      await setup.set(viewerOf(request), request.params.name, request.body);
      return reply.code(204).send(undefined);
    },
  );

  app.delete(
    '/api/models/providers/:name',
    {
      config: { audit: { action: 'model-provider.removed', object: 'model-provider' } },
      schema: {
        tags,
        summary: 'Take a provider away that was set up in the app',
        params,
        response: { 204: nothing },
      },
    },
    async (request, reply) => {
      await setup.remove(viewerOf(request), request.params.name);
      return reply.code(204).send(undefined);
    },
  );
}
