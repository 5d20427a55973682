import { createHash } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { McpTransport } from '@vitto/contracts';
import { isOwner } from '../../identity/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Signal, SignalBus } from '../../kernel/signal-bus.ts';
import { findMcpServer, noteFailure, noteOffer, type McpServerRecord } from './mcp-server.store.ts';
import { openTransport } from './open-transport.ts';
import type { Offer } from './offer.ts';
import type { StartedPrograms } from './started-programs.ts';
import { stdioNotAllowed } from './refuse-transport.ts';
import { ServerLost } from './server-lost.ts';
import { CONNECTION_LIMITS, ServerConnection, type ConnectionLimits } from './server-connection.ts';

export interface McpDependencies {
  database: Database;
  /** Puts the user's secrets in the place of their names, in every text of the value. Throws AppError for one that is not there. */
  fillSecrets: <T>(userId: string, value: T) => Promise<T>;
  logger: Logger;
  /** The programs of servers that run on this machine. */
  programs: StartedPrograms;
  /** By these the processes of an installation tell each other that a user's servers were changed. */
  signals: Pick<SignalBus, 'listen' | 'changed'>;
  /** Of this program, told to the servers. */
  version: string;
  limits?: Partial<ConnectionLimits>;
}

interface Held {
  connection: ServerConnection;
  userId: string;
  /** Hash of the transport with its secrets. */
  key: string;
  lastUsed: number;
  inUse: number;
}

const IDLE_MS = 10 * 60_000;
const SWEEP_EVERY_MS = 60_000;

/** The connections of this process to MCP servers: one a server, shared by the tasks of its user. */
export class McpConnections {
  readonly #deps: McpDependencies;
  readonly #held = new Map<string, Held>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #unlisten: () => void;

  constructor(deps: McpDependencies) {
    this.#deps = deps;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
    this.#unlisten = deps.signals.listen((signal) => this.#heed(signal));
  }

  /** What a server offers now; also noted in its record. @throws AppError `mcp.unavailable`, or a vault's. */
  async offer(server: McpServerRecord, signal: AbortSignal): Promise<Offer> {
    return this.#use(server, (connection) => connection.offer(signal));
  }

  /** @throws what `ServerSession.call` throws, or AppError of the vault. */
  async call(
    server: McpServerRecord,
    tool: string,
    args: Record<string, unknown>,
    options: Parameters<ServerConnection['call']>[2],
  ): Promise<CallToolResult> {
    return this.#use(server, (connection) => connection.call(tool, args, options));
  }

  /** Ends the connection to one server, if there is one. */
  async drop(id: string): Promise<void> {
    const held = this.#held.get(id);
    this.#held.delete(id);
    await held?.connection.close();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#unlisten();
    await Promise.all([...this.#held.keys()].map((id) => this.drop(id)));
  }

  async #use<T>(server: McpServerRecord, work: (connection: ServerConnection) => Promise<T>): Promise<T> {
    const held = await this.#hold(server);
    held.inUse += 1;
    try {
      return await work(held.connection);
    } catch (error) {
      if (error instanceof ServerLost && this.#held.get(server.id) !== held)
        throw closedMeanwhile(server.name);
      // One that only repeats an earlier failure changes nothing of what is known.
      if (error instanceof ServerLost && !(error.cause instanceof ServerLost)) {
        await this.#noteFailure(server, error);
      }
      throw error;
    } finally {
      held.inUse -= 1;
      held.lastUsed = Date.now();
    }
  }

  async #hold(server: McpServerRecord): Promise<Held> {
    const target = await this.#deps.fillSecrets(server.userId, server.transport);
    const isOwners = await isOwner(this.#deps.database, server.userId);
    if (server.transport.kind === 'stdio' && !isOwners) throw stdioNotAllowed();
    const key = createHash('sha256')
      .update(JSON.stringify([target, isOwners]))
      .digest('hex');
    const known = this.#held.get(server.id);
    if (known?.key === key && !wasMended(known.connection, server)) return known;
    const connection = this.#open(server, target, isOwners);
    const held: Held = { connection, userId: server.userId, key, lastUsed: Date.now(), inUse: 0 };
    this.#held.set(server.id, held);
    await known?.connection.close();
    return held;
  }

  #open(server: McpServerRecord, target: McpTransport, isOwners: boolean): ServerConnection {
    const logger = this.#deps.logger.child({ mcpServer: server.name, userId: server.userId });
    let noted = Promise.resolve();
    return new ServerConnection({
      server: server.name,
      version: this.#deps.version,
      open: () => openTransport(target, { isOwners, logger, programs: this.#deps.programs }),
      limits: { ...CONNECTION_LIMITS, ...this.#deps.limits },
      onOffer: (offer) => {
        // In the order in which they were made: the last one is what stays.
        noted = noted
          .then(() => offer)
          .then((now) => noteOffer(this.#deps.database.pool, server, now))
          .catch((error: unknown) => logger.warn({ err: error }, 'could not note what a server offers'));
      },
    });
  }

  /** What people see of it; the call that failed tells the rest. */
  async #noteFailure(server: McpServerRecord, error: AppError): Promise<void> {
    const { code, message, hint } = error;
    const failure = { code, message, ...(hint === undefined ? {} : { hint }) };
    await noteFailure(this.#deps.database.pool, server, failure).catch((cause: unknown) =>
      this.#deps.logger.warn({ err: cause }, 'could not note that an MCP server failed'),
    );
  }

  #heed(signal: Signal): void {
    if (signal.kind === 'changed' && signal.what === 'mcp-servers') this.#dropUnwanted(signal.userId);
    if (signal.kind === 'reconnected') this.#dropUnwanted(null);
  }

  #sweep(): void {
    const before = Date.now() - IDLE_MS;
    for (const [id, held] of this.#held) {
      if (held.inUse === 0 && held.lastUsed <= before) this.#guard(this.drop(id));
    }
    // Makes good what no signal told.
    this.#dropUnwanted(null);
  }

  /** Ends the connections to servers that are switched off or gone, of one user or all, with the calls on them. */
  #dropUnwanted(userId: string | null): void {
    for (const [id, held] of this.#held) {
      if (userId === null || held.userId === userId) this.#guard(this.#dropIfUnwanted(id, held.userId));
    }
  }

  async #dropIfUnwanted(id: string, userId: string): Promise<void> {
    const server = await findMcpServer(this.#deps.database.pool, userId, id);
    if (server === null || !server.isEnabled) await this.drop(id);
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#deps.logger.warn({ err: error }, 'could not close a connection to an MCP server'),
    );
  }
}

/** No failure of the server: it was closed under a call by what its user did. */
function closedMeanwhile(server: string): AppError {
  return new AppError('mcp.off', `The MCP server ${server} was switched off or changed during the call.`, {
    hint: 'What it had done by then is unknown. Go on without it.',
  });
}

/** True when a connection was given up, and somebody has checked the server since. */
function wasMended({ gaveUpAt }: ServerConnection, { checkedAt, lastError }: McpServerRecord): boolean {
  return gaveUpAt !== null && lastError === null && checkedAt !== null && checkedAt.getTime() > gaveUpAt;
}
