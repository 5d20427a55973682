import { request as openRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { forwardedHeaders, requestHeaders } from './forwarded-headers.ts';
import type { ProxyTarget } from './proxy-target.ts';
import { bodyOf, notReached, type ProxyRefusal } from './proxy-refusal.ts';

/**
 * Sends a plain request on over a connection of its own and gives the answer back. Both are read by Node's strict
 * parser and written anew: nothing that two servers could understand differently gets through. Never rejects.
 */
export async function forwardRequest(
  target: ProxyTarget & { path: string },
  incoming: IncomingMessage,
  response: ServerResponse,
  upstream: Socket,
): Promise<void> {
  const { host, port, path } = target;
  const headers = requestHeaders(incoming.rawHeaders, host, port);
  const isChunked = incoming.headers['transfer-encoding'] !== undefined;
  if (isChunked) headers.push('Transfer-Encoding', 'chunked');
  const outgoing = openRequest({
    method: incoming.method ?? 'GET',
    path,
    headers,
    setHost: false,
    createConnection: () => upstream,
  });
  response.once('close', () => outgoing.destroy());
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
  });
  try {
    // A server may answer before it has read everything: the answer counts, not how the sending ended.
    pipeline(incoming, outgoing).catch(() => undefined);
    const received = await answer;
    response.writeHead(received.statusCode ?? 502, forwardedHeaders(received.rawHeaders));
    await pipeline(received, response);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else refuseRequest(response, notReached(host, error));
  } finally {
    upstream.destroy();
  }
}

export function refuseRequest(response: ServerResponse, refusal: ProxyRefusal): void {
  if (response.destroyed) return;
  response.writeHead(refusal.status, refusal.reason, {
    'content-type': 'text/plain; charset=utf-8',
    connection: 'close',
  });
  response.end(bodyOf(refusal));
}
