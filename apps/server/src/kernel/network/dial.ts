import { connect, type Socket } from 'node:net';
import { isForeignPublicAddress, type AddressPolicy } from './address-policy.ts';
import { addressRefused, nameNotFound, networkError, timedOut } from './network-error.ts';
import { resolveHost, type HostResolver } from './resolve-host.ts';

export interface DialOptions {
  resolve?: HostResolver;
  mayConnect?: AddressPolicy;
  /** Milliseconds for look-up and connection together; 10 s by default. */
  connectMs?: number;
}

export type Dial = (hostname: string, port: number) => Promise<Socket>;

const CONNECT_MS = 10_000;

/**
 * Opens TCP connections by name: the name is resolved once, all its addresses must satisfy the policy, and the socket
 * goes to exactly those, one after the other. The caller owns the socket (half-open allowed, no Nagle delay).
 * @throws AppError `network.dns`, `.address-refused`, `.unreachable`, `.timeout`
 */
export function createDial(options: DialOptions = {}): Dial {
  const resolve = options.resolve ?? resolveHost;
  const mayConnect = options.mayConnect ?? isForeignPublicAddress;
  return async (hostname, port) => {
    const signal = AbortSignal.timeout(options.connectMs ?? CONNECT_MS);
    const addresses = await untilAborted(lookUp(resolve, hostname), signal, hostname);
    // One address that is not allowed spoils the name: which one is used must not depend on luck.
    if (!addresses.every(({ address }) => mayConnect(address))) throw addressRefused(hostname);
    let last: unknown;
    for (const { address } of addresses) {
      try {
        return await open(address, port, signal);
      } catch (error) {
        if (signal.aborted) throw timedOut(hostname, error);
        last = error;
      }
    }
    throw networkError('unreachable', `${hostname} cannot be reached.`, undefined, last);
  };
}

async function lookUp(resolve: HostResolver, hostname: string): ReturnType<HostResolver> {
  try {
    const addresses = await resolve(hostname);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    throw nameNotFound(hostname, error);
  }
  throw nameNotFound(hostname);
}

/** A resolver cannot be stopped; its answer is not waited for any longer. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal, hostname: string): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(timedOut(hostname)), { once: true });
    work.then(resolve, reject);
  });
}

function open(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    const give = () => socket.destroy(new Error('not connected in time'));
    const settle = () => {
      signal.removeEventListener('abort', give);
      socket.removeAllListeners('error');
    };
    socket.once('error', (error) => {
      settle();
      // A second failure of a socket that is given up is nobody's news.
      socket.on('error', () => undefined);
      reject(error);
    });
    socket.once('connect', () => {
      settle();
      resolve(socket);
    });
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}
