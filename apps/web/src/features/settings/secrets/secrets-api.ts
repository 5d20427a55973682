import { secret } from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';

const secretList = z.object({ items: z.array(secret) });

export function secretsQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['secrets'],
    queryFn: () => client.send({ path: '/secrets', schema: secretList }),
  });
}

/** Adds a secret or gives it another value. */
export async function putSecret(client: ApiClient, name: string, value: string): Promise<true> {
  const path = `/secrets/${encodeURIComponent(name)}`;
  await client.send({ method: 'PUT', path, body: { value }, schema: z.unknown() });
  return true;
}

export async function deleteSecret(client: ApiClient, name: string): Promise<void> {
  await client.send({ method: 'DELETE', path: `/secrets/${encodeURIComponent(name)}`, schema: z.unknown() });
}
