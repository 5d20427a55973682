import { randomUUID } from 'node:crypto';
import type { McpServer, McpToolDefinition } from '@vitto/contracts';
import type { Handler } from './handler.ts';

/** The MCP servers of a fake Vitto: what they offer, and how it is approved. */
export class FakeMcpServers {
  readonly servers: McpServer[] = [];
  /** What the next check finds. */
  offer: McpToolDefinition[] = [];
  /** Why the next check finds nothing. */
  failure: McpServer['lastError'] = null;

  routes(): [RegExp, Handler][] {
    return [
      [/^GET \/api\/mcp-servers$/, () => ({ status: 200, body: { items: this.servers } })],
      [/^POST \/api\/mcp-servers$/, ({ body }) => ({ status: 201, body: this.#create(body) })],
      [/^POST \/api\/mcp-servers\/([^/]+)\/check$/, (_, id) => ({ status: 200, body: this.#check(id) })],
      [
        /^POST \/api\/mcp-servers\/([^/]+)\/approve$/,
        ({ body }, id) => ({ status: 200, body: this.#approve(id, String(body['offeredHash'])) }),
      ],
      [/^DELETE \/api\/mcp-servers\/([^/]+)$/, (_, id) => this.#remove(id)],
    ];
  }

  #create(body: Record<string, unknown>): McpServer {
    const at = new Date().toISOString();
    const server = {
      id: randomUUID(),
      domain: 'knowledge',
      risk: 'write',
      toolChoices: {},
      isEnabled: true,
      state: 'new',
      approvedTools: [],
      approvedHash: null,
      offeredTools: null,
      offeredHash: null,
      checkedAt: null,
      lastError: null,
      createdAt: at,
      updatedAt: at,
      ...body,
    } as unknown as McpServer;
    this.servers.push(server);
    return server;
  }

  #find(id: string): McpServer {
    const server = this.servers.find((one) => one.id === id);
    if (server === undefined) throw new Error(`no MCP server ${id}`);
    return server;
  }

  #check(id: string): McpServer {
    const hash = JSON.stringify(this.offer).length.toString();
    const server = this.#find(id);
    if (this.failure !== null) return Object.assign(server, { state: 'failing', lastError: this.failure });
    const isApproved = server.approvedHash === hash;
    return Object.assign(server, {
      state: isApproved ? 'ready' : server.approvedHash === null ? 'new' : 'changed',
      lastError: null,
      offeredTools: isApproved ? null : this.offer,
      offeredHash: isApproved ? null : hash,
    });
  }

  #approve(id: string, approvedHash: string): McpServer {
    const server = this.#find(id);
    const approvedTools = server.offeredTools ?? server.approvedTools;
    const offer = { offeredTools: null, offeredHash: null };
    return Object.assign(server, { ...offer, state: 'ready', approvedTools, approvedHash });
  }

  #remove(id: string): ReturnType<Handler> {
    this.servers.splice(this.servers.indexOf(this.#find(id)), 1);
    return { status: 204, body: undefined };
  }
}
