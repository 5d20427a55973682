import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isPublicAddress } from '../address-policy.ts';
import type { GuardOptions } from '../guarded-agent.ts';
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.ts';

export interface Site {
  port: number;
  /** What came in, oldest first. */
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  /** How many connections were opened. */
  connections: () => number;
  close: () => Promise<void>;
}

/** A web server on 127.0.0.1 that remembers what it was asked. */
export async function openSite(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  options: { secure?: boolean } = {},
): Promise<Site> {
  const requests: Site['requests'] = [];
  let connections = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  };
  const server =
    options.secure === true
      ? createSecureServer({ cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY }, listener)
      : createServer(listener);
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The strict guard, but for the loopback address that a test serves from: every name leads there. */
export function allowLoopback(): GuardOptions {
  return {
    mayConnect: (address) => address === '127.0.0.1' || isPublicAddress(address),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  };
}
