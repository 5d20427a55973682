import type { createMcpServer, McpServer, McpTransport, updateMcpServer } from '@vitto/contracts';
import type { z } from 'zod';
import { isOwner } from '../../identity/index.ts';
import { AppError, notFound } from '../../kernel/app-error.ts';
import { newId } from '../../kernel/ids.ts';
import { McpConnections, type McpDependencies } from './mcp-connections.ts';
import {
  approveMcpServer,
  deleteMcpServer,
  findMcpServer,
  insertMcpServer,
  listMcpServers,
  noteFailure,
  noteOffer,
  toMcpServer,
  updateMcpServer as changeMcpServer,
} from './mcp-server.store.ts';
import { refuseRawSecrets, stdioNotAllowed } from './refuse-transport.ts';

/** Servers of one user, at most. */
const MAX_SERVERS = 50;

/** What a user may do with their MCP servers. All of it throws AppError `mcp-server.not-found` for another's. */
export class McpServers {
  readonly #deps: McpDependencies;

  constructor(deps: McpDependencies) {
    this.#deps = deps;
  }

  async list(userId: string): Promise<McpServer[]> {
    return (await listMcpServers(this.#deps.database.pool, userId)).map(toMcpServer);
  }

  async find(userId: string, id: string): Promise<McpServer> {
    return toMcpServer(await this.#find(userId, id));
  }

  /** @throws AppError `mcp.name-taken`, `mcp.too-many`, `mcp.stdio-not-allowed`, `mcp.raw-secret`. */
  async create(userId: string, request: z.output<typeof createMcpServer>): Promise<McpServer> {
    await this.#checkTransport(userId, request.transport);
    const { pool } = this.#deps.database;
    if ((await listMcpServers(pool, userId)).length >= MAX_SERVERS) {
      throw new AppError('mcp.too-many', `You have ${MAX_SERVERS} MCP servers already.`, {
        status: 409,
        hint: 'Remove one that you no longer use.',
      });
    }
    return toMcpServer(await insertMcpServer(pool, { id: newId(), userId, ...request }));
  }

  /** @throws AppError `mcp.stdio-not-allowed`, `mcp.raw-secret`. */
  async update(userId: string, id: string, change: z.output<typeof updateMcpServer>): Promise<McpServer> {
    const server = await this.#find(userId, id);
    await this.#checkTransport(userId, change.transport ?? server.transport);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const changed = await changeMcpServer(this.#deps.database.pool, userId, id, given);
    await this.#deps.signals.changed('mcp-servers', userId);
    return toMcpServer(changed);
  }

  /** Connects now and notes what the server offers, or why it cannot be reached: either way the server is the answer. */
  async check(userId: string, id: string, signal: AbortSignal): Promise<McpServer> {
    const { pool } = this.#deps.database;
    const server = await this.#find(userId, id);
    const connections = new McpConnections(this.#deps);
    try {
      await noteOffer(pool, server, await connections.offer(server, signal));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message, hint } = error;
      await noteFailure(pool, server, { code, message, ...(hint === undefined ? {} : { hint }) });
    } finally {
      await connections.close();
    }
    return this.find(userId, id);
  }

  /** @throws AppError `mcp.offer-changed`. */
  async approve(userId: string, id: string, offeredHash: string): Promise<McpServer> {
    return toMcpServer(await approveMcpServer(this.#deps.database.pool, userId, id, offeredHash));
  }

  async remove(userId: string, id: string): Promise<void> {
    await deleteMcpServer(this.#deps.database.pool, userId, id);
    await this.#deps.signals.changed('mcp-servers', userId);
  }

  async #find(userId: string, id: string) {
    const server = await findMcpServer(this.#deps.database.pool, userId, id);
    if (server === null) throw notFound('mcp-server');
    return server;
  }

  /** A program runs with the rights of Vitto itself: it is the owner's to name one. */
  async #checkTransport(userId: string, transport: McpTransport): Promise<void> {
    if (transport.kind === 'stdio' && !(await isOwner(this.#deps.database, userId))) {
      throw stdioNotAllowed();
    }
    refuseRawSecrets(transport);
  }
}
