import {
  deployKey,
  scannedHostKeys,
  type AddDeployKey,
  type DeployKey,
  type ScannedHostKeys,
} from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';

const keyList = z.object({ items: z.array(deployKey) });

export function deployKeysQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['deploy-keys'],
    queryFn: () => client.send({ path: '/deploy-keys', schema: keyList }),
  });
}

/** What the server of a repository shows itself by, for a person to compare. */
export function scanHostKeys(client: ApiClient, repository: string): Promise<ScannedHostKeys> {
  return client.send({
    method: 'POST',
    path: '/deploy-keys/host-keys',
    body: { repository },
    schema: scannedHostKeys,
  });
}

export function postDeployKey(client: ApiClient, body: AddDeployKey): Promise<DeployKey> {
  return client.send({ method: 'POST', path: '/deploy-keys', body, schema: deployKey });
}

export async function deleteDeployKey(client: ApiClient, id: string): Promise<void> {
  await client.send({ method: 'DELETE', path: `/deploy-keys/${id}`, schema: z.unknown() });
}
