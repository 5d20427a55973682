import {
  approveMcpServer,
  createMcpServer,
  mcpServer,
  mcpServerList,
  updateMcpServer,
} from '@vitto/contracts';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { idParams, nothing, viewerOf, type WebApp } from '../../channels/index.ts';
import type { McpServers } from '../../extensions/index.ts';

/** MCP servers whose tools a user's tasks may use. */
export function addMcpServerRoutes(app: WebApp, servers: McpServers): void {
  addRecordRoutes(app, servers);
  addApprovalRoutes(app, servers);
}

const tags = ['mcp servers'];
const empty = z.strictObject({}).nullish();

function addRecordRoutes(app: WebApp, servers: McpServers): void {
  app.get(
    '/api/mcp-servers',
    {
      schema: { tags, summary: 'My MCP servers', response: { 200: mcpServerList } },
    },
    async (request) => ({ items: await servers.list(viewerOf(request).userId) }),
  );

  app.post(
    '/api/mcp-servers',
    {
      config: { audit: { action: 'mcp-server.created', object: 'mcp-server' } },
      schema: {
        tags,
        summary: 'Add an MCP server; its tools are used once it was checked and they were approved',
        body: createMcpServer,
        response: { 201: mcpServer },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await servers.create(viewerOf(request).userId, request.body)),
  );

  app.get(
    '/api/mcp-servers/:id',
    { schema: { tags, summary: 'One MCP server', params: idParams, response: { 200: mcpServer } } },
    (request) => servers.find(viewerOf(request).userId, request.params.id),
  );

  app.patch(
    '/api/mcp-servers/:id',
    {
      config: { audit: { action: 'mcp-server.changed', object: 'mcp-server' } },
      schema: {
        tags,
        summary: 'Change an MCP server; another transport drops what was approved',
        params: idParams,
        body: updateMcpServer,
        response: { 200: mcpServer },
      },
    },
    (request) => servers.update(viewerOf(request).userId, request.params.id, request.body),
  );

  app.delete(
    '/api/mcp-servers/:id',
    {
      config: { audit: { action: 'mcp-server.deleted', object: 'mcp-server' } },
      schema: { tags, summary: 'Remove an MCP server', params: idParams, response: { 204: nothing } },
    },
    async (request, reply) => {
      await servers.remove(viewerOf(request).userId, request.params.id);
      return reply.code(204).send(undefined);
    },
  );
}

function addApprovalRoutes(app: WebApp, servers: McpServers): void {
  app.post(
    '/api/mcp-servers/:id/check',
    {
      config: { audit: { action: 'mcp-server.checked', object: 'mcp-server' } },
      schema: {
        tags,
        summary: 'Connect to an MCP server now and list its tools; `lastError` tells why it failed',
        params: idParams,
        body: empty,
        response: { 200: mcpServer },
      },
    },
    (request, reply) => servers.check(viewerOf(request).userId, request.params.id, untilGone(reply)),
  );

  app.post(
    '/api/mcp-servers/:id/approve',
    {
      config: { audit: { action: 'mcp-server.approved', object: 'mcp-server' } },
      schema: {
        tags,
        summary: 'Let tasks use the tools that were seen',
        params: idParams,
        body: approveMcpServer,
        response: { 200: mcpServer },
      },
    },
    (request) => servers.approve(viewerOf(request).userId, request.params.id, request.body.offeredHash),
  );
}

/** Aborts when the one who asked is no longer there. */
function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(new Error('the client has gone')));
  return gone.signal;
}
