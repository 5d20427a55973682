import {
  mcpServer,
  type createMcpServer as newServer,
  type McpServer,
  type updateMcpServer as serverChange,
} from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';

export type NewServer = z.input<typeof newServer>;
export type ServerChange = z.infer<typeof serverChange>;
const serverList = z.object({ items: z.array(mcpServer) });
export type ServerList = z.infer<typeof serverList>;

export function mcpQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['mcp-servers'],
    queryFn: () => client.send({ path: '/mcp-servers', schema: serverList }),
  });
}

const pathOf = (id: string) => `/mcp-servers/${encodeURIComponent(id)}`;

export function createServer(client: ApiClient, body: NewServer, idempotencyKey: string): Promise<McpServer> {
  return client.send({ method: 'POST', path: '/mcp-servers', body, idempotencyKey, schema: mcpServer });
}

export function changeServer(client: ApiClient, id: string, body: ServerChange): Promise<McpServer> {
  return client.send({ method: 'PATCH', path: pathOf(id), body, schema: mcpServer });
}

export async function deleteServer(client: ApiClient, id: string): Promise<void> {
  await client.send({ method: 'DELETE', path: pathOf(id), schema: z.unknown() });
}

/** Connects and asks what it offers now. A server that cannot be reached is an answer too: its `lastError`. */
export function checkServer(client: ApiClient, id: string, idempotencyKey: string): Promise<McpServer> {
  return client.send({
    method: 'POST',
    path: `${pathOf(id)}/check`,
    body: {},
    idempotencyKey,
    schema: mcpServer,
  });
}

/** Approves what was seen, by its hash: what the server offers by then may be something else, and is refused. */
export function approveServer(
  client: ApiClient,
  id: string,
  offeredHash: string,
  idempotencyKey: string,
): Promise<McpServer> {
  return client.send({
    method: 'POST',
    path: `${pathOf(id)}/approve`,
    body: { offeredHash },
    idempotencyKey,
    schema: mcpServer,
  });
}
