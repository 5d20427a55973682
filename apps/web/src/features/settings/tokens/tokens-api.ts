import {
  apiToken,
  createdApiToken,
  signInCode,
  type createApiToken as newToken,
  type signInCode as code,
} from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';

export type ApiToken = z.infer<typeof apiToken>;
export type CreatedToken = z.infer<typeof createdApiToken>;
const tokenList = z.object({ items: z.array(apiToken) });

export function tokensQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['tokens'],
    queryFn: () => client.send({ path: '/tokens', schema: tokenList }),
  });
}

export function createToken(
  client: ApiClient,
  body: z.infer<typeof newToken>,
  idempotencyKey: string,
): Promise<CreatedToken> {
  return client.send({ method: 'POST', path: '/tokens', body, idempotencyKey, schema: createdApiToken });
}

export async function deleteToken(client: ApiClient, id: string): Promise<void> {
  await client.send({ method: 'DELETE', path: `/tokens/${encodeURIComponent(id)}`, schema: z.unknown() });
}

/** A one-time code to sign in on another device. */
export function createSignInCode(client: ApiClient, idempotencyKey: string): Promise<z.infer<typeof code>> {
  return client.send({
    method: 'POST',
    path: '/sign-in-codes',
    body: {},
    idempotencyKey,
    schema: signInCode,
  });
}
