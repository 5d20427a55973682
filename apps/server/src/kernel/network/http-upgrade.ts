import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Requests that ask for another protocol go through the same routes as all others, with their guards and refusals: they
 * are answered like any request unless a route takes the connection over.
 */

const connections = new WeakMap<IncomingMessage, { socket: Duplex; head: Buffer }>();

/** Hands upgrade requests of a server to `route`, which answers them as it answers others. */
export function routeUpgrades(
  server: Server,
  route: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const response = new ServerResponse(request);
    // Without a takeover the connection ends with the answer.
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
    response.on('finish', () => socket.end());
    socket.on('error', () => socket.destroy());
    connections.set(request, { socket, head });
    route(request, response);
  });
}

/** True when the request asks for this protocol on a connection that can be taken over. */
export function asksForUpgrade(request: IncomingMessage, protocol: string): boolean {
  return connections.has(request) && request.headers.upgrade?.toLowerCase() === protocol;
}

/** Says yes to an upgrade request and gives the connection, whose bytes are the caller's from here on. */
export function takeConnection(request: IncomingMessage, response: ServerResponse, protocol: string): Duplex {
  const connection = connections.get(request);
  if (connection === undefined) throw new Error('a request that is no upgrade was taken for one');
  connections.delete(request);
  const { socket, head } = connection;
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  return socket;
}
