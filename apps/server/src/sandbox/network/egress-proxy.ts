import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NetworkPolicy } from '@vitto/contracts';
import type { Logger } from '../../kernel/logger.ts';
import { createDial, type Dial } from '../../kernel/network/dial.ts';
import { isHostAllowed } from './allowed-hosts.ts';
import { forwardRequest, refuseRequest } from './forward-request.ts';
import { GuestConnection } from './guest-connection.ts';
import { openTunnel, refuseTunnel } from './open-tunnel.ts';
import {
  badTarget,
  hostNotAllowed,
  notReached,
  tooManyConnections,
  type ProxyRefusal,
} from './proxy-refusal.ts';
import { parseAbsoluteUrl, parseAuthority, type ProxyTarget } from './proxy-target.ts';
import { Traffic, type HostTraffic } from './traffic.ts';

export interface EgressProxyOptions {
  /** For the log: names of hosts and counts of bytes, nothing else. */
  vmId: string;
  policy: NetworkPolicy;
  logger: Logger;
  /** Opens connections by name and checks the addresses; the strict one by default. */
  dial?: Dial;
  /** Milliseconds without a byte after which a connection is ended; 5 min by default. */
  idleMs?: number;
}

const MAX_CONNECTIONS = 64;
const MAX_HEADER_BYTES = 16 * 1024;
const IDLE_MS = 5 * 60_000;

/**
 * The way out of one VM: an HTTP proxy for the streams that its agent opens. Each request is checked by name against
 * the user's list before the name is looked up, and connects to the addresses that were looked up and checked. A
 * redirect is an answer like any other: where it leads is the guest's next request.
 */
export class EgressProxy {
  readonly #options: EgressProxyOptions;
  readonly #server: Server;
  readonly #dial: Dial;
  readonly #traffic = new Traffic();
  readonly #guests = new Map<Duplex, GuestConnection>();
  readonly #upstreams = new Map<Socket, string>();
  readonly #idleMs: number;
  #policy: NetworkPolicy;
  #isClosed = false;

  constructor(options: EgressProxyOptions) {
    this.#options = options;
    this.#policy = options.policy;
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.#dial = options.dial ?? createDial();
    // It listens nowhere: only streams of its own VM are handed to it.
    this.#server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 0 },
      (request, response) => {
        this.#guests.get(request.socket)?.serveInTurn(() => this.#forward(request, response));
      },
    );
    this.#server.on('connect', (request, guest, head) => {
      this.#guests.get(guest)?.serveInTurn(() => this.#tunnel(request, guest, head));
    });
  }

  /** Serves a stream that the guest opened to its proxy. */
  accept(guest: Duplex): void {
    if (this.#isClosed) return void guest.destroy();
    if (this.#guests.size >= MAX_CONNECTIONS) {
      return refuseTunnel(guest, tooManyConnections(MAX_CONNECTIONS), this.#idleMs);
    }
    this.#guests.set(guest, new GuestConnection(guest, this.#idleMs));
    guest.once('close', () => this.#guests.delete(guest));
    this.#server.emit('connection', guest);
  }

  /** What may be reached from now on. Connections to hosts that are not allowed any more are ended. */
  setPolicy(policy: NetworkPolicy): void {
    this.#policy = policy;
    for (const [socket, host] of this.#upstreams) if (!isHostAllowed(policy, host)) socket.destroy();
  }

  traffic(): HostTraffic[] {
    return this.#traffic.read();
  }

  /** Ends every connection. */
  close(): void {
    this.#isClosed = true;
    for (const guest of this.#guests.values()) guest.end();
    for (const socket of this.#upstreams.keys()) socket.destroy();
  }

  async #tunnel(request: IncomingMessage, guest: Duplex, head: Buffer): Promise<void> {
    const target = parseAuthority(request.url ?? '', null);
    const upstream = await this.#open(target);
    if ('reason' in upstream) return refuseTunnel(guest, upstream, this.#idleMs);
    await openTunnel(guest, head, upstream);
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = parseAbsoluteUrl(request.url ?? '');
    const upstream = await this.#open(target);
    if ('reason' in upstream) return refuseRequest(response, upstream);
    if ('refusal' in target || response.destroyed) upstream.destroy();
    else await forwardRequest(target, request, response, upstream);
  }

  /** The connection, or why there is none. The name is looked up only when it is allowed: a look-up tells it to others. */
  async #open(target: ProxyTarget | { refusal: string }): Promise<Socket | ProxyRefusal> {
    if ('refusal' in target) return this.#refuse(badTarget(target.refusal), null);
    const { host, port } = target;
    if (!isHostAllowed(this.#policy, host)) return this.#refuse(hostNotAllowed(host), host);
    try {
      const socket = await this.#dial(host, port);
      this.#follow(socket, host);
      // The list may have changed, or the VM ended, while it was opened.
      if (!this.#isClosed && isHostAllowed(this.#policy, host)) return socket;
      socket.destroy();
      return this.#refuse(hostNotAllowed(host), host);
    } catch (error) {
      return this.#refuse(notReached(host, error), host);
    }
  }

  #follow(socket: Socket, host: string): void {
    this.#upstreams.set(socket, host);
    this.#traffic.follow(host, socket);
    socket.setTimeout(this.#idleMs, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#upstreams.delete(socket);
      const { bytesWritten, bytesRead } = socket;
      const { logger, vmId } = this.#options;
      logger.info({ vmId, host, sentBytes: bytesWritten, receivedBytes: bytesRead }, 'a VM reached a host');
    });
  }

  #refuse(refusal: ProxyRefusal, host: string | null): ProxyRefusal {
    const { logger, vmId } = this.#options;
    logger.info({ vmId, host, status: refusal.status }, 'a VM was not let through');
    return refusal;
  }
}
