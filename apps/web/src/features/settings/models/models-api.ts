import {
  modelSetup,
  modelTest,
  type ModelProviderName,
  type ModelTest,
  type SetModelProvider,
} from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';

export function modelSetupQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['model-setup'],
    queryFn: () => client.send({ path: '/models', schema: modelSetup }),
  });
}

/** Sets up a provider for the whole installation. Its key goes in and never comes out. */
export async function setProvider(
  client: ApiClient,
  name: ModelProviderName,
  body: SetModelProvider,
): Promise<void> {
  await client.send({ method: 'PUT', path: `/models/providers/${name}`, body, schema: z.unknown() });
}

export async function removeProvider(client: ApiClient, name: ModelProviderName): Promise<void> {
  await client.send({ method: 'DELETE', path: `/models/providers/${name}`, schema: z.unknown() });
}

/** Asks a model a short question, with `access` by what is not stored yet. What it costs is the person's. */
export function testModel(
  client: ApiClient,
  model: string,
  idempotencyKey: string,
  access?: SetModelProvider,
): Promise<ModelTest> {
  return client.send({
    method: 'POST',
    path: '/models/test',
    body: { model, ...(access === undefined ? {} : { access }) },
    idempotencyKey,
    schema: modelTest,
  });
}
