import { createMcpHandler, type McpRequestContext } from '@modelcontextprotocol/server';
import type { Problem } from '@vitto/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/app-error.ts';
import type { DoorDependencies } from '../door-dependencies.ts';
import { viewerOf, type WebApp } from '../web/web-app.ts';
import { createMcpServer, type McpVisit } from './create-mcp-server.ts';

/**
 * The MCP server: streamable HTTP without sessions, so that any process can answer any request. Both revisions of the
 * protocol that clients speak now are served by the same tools.
 */
export function addMcpRoute(app: WebApp, deps: DoorDependencies): void {
  const { logger } = deps.runs;
  const handler = createMcpHandler((context) => createMcpServer(deps, visitOf(context)), {
    onerror: (error) => logger.debug({ reason: error.message }, 'a request to the MCP server was refused'),
    ...(deps.keepAliveMs === undefined ? {} : { keepAliveMs: deps.keepAliveMs }),
  });
  app.addHook('preClose', () => handler.close());

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { audit: { none: 'each tool that changes something leaves its own entry' } },
    schema: { hide: true },
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      if (request.headers['idempotency-key'] !== undefined) throw notRepeatable();
      const visit: McpVisit = {
        viewer,
        isListing: mentions(request.body, 'tools/list'),
        recordAudit: (call) => request.recordAudit(call),
        recordRefusal: (tool, code) => request.recordRefusal('tool', tool, code),
      };
      const answer = await handler.fetch(toWebRequest(request, reply, deps.publicUrl), {
        parsedBody: request.body,
        authInfo: {
          token: '',
          clientId: viewer.credential,
          scopes: [...viewer.scopes],
          extra: { visit },
        },
      });
      return reply.send(answer);
    },
  });
}

/** An answer is a stream, which is sent once and kept nowhere. */
function notRepeatable(): AppError {
  return new AppError('mcp.not-repeatable', 'The MCP server takes no `Idempotency-Key`.', {
    status: 422,
    hint: 'Leave it out, and look with list_tasks before you start a task again.',
  });
}

function visitOf(context: McpRequestContext): McpVisit {
  return context.authInfo?.extra?.['visit'] as McpVisit;
}

/** The request as the SDK wants it: without a body, which has been read and checked here. */
function toWebRequest(request: FastifyRequest, reply: FastifyReply, publicUrl: string): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string' && name !== 'authorization' && name !== 'cookie') headers.set(name, value);
  }
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return new Request(new URL('/mcp', publicUrl), { method: request.method, headers, signal: gone.signal });
}

function mentions(body: unknown, method: string): boolean {
  const messages = Array.isArray(body) ? (body as unknown[]) : [body];
  return messages.some((message) => (message as { method?: unknown } | null | undefined)?.method === method);
}

/** A refusal before any message was understood, as clients of JSON-RPC read it. */
export function toJsonRpcError(problem: Problem): unknown {
  const code = problem.code === 'request.bad-json' ? -32_700 : problem.status >= 500 ? -32_603 : -32_600;
  const { code: reason, hint } = problem;
  return {
    jsonrpc: '2.0',
    id: null,
    error: { code, message: problem.detail ?? problem.title, data: { code: reason, hint } },
  };
}
