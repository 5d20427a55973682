import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isForeignPublicAddress, type AddressPolicy } from './address-policy.ts';
import { addressRefused, nameNotFound } from './network-error.ts';
import { resolveHost, type HostResolver } from './resolve-host.ts';

/** What a guard is built from. Everything has a strict default; there is no setting that weakens it from outside. */
export interface GuardOptions {
  resolve?: HostResolver;
  mayConnect?: AddressPolicy;
  /** Lets `localhost` through to the policy; otherwise names that mean this machine are refused as such. */
  mayUseLocalNames?: boolean;
  /** Milliseconds for look-up, connection and TLS together. */
  connectMs?: number;
  /** Milliseconds without a byte after which an answer counts as dead; 15 s by default, 0 for never. */
  silenceMs?: number;
  /** The most that the headers of an answer may take. */
  maxHeaderBytes?: number;
  /** Certificate authorities (PEM) in place of the system's. */
  ca?: string;
}

const CONNECT_MS = 10_000;
const MAX_HEADER_BYTES = 32 * 1024;
const SILENCE_MS = 15_000;

/**
 * An HTTP agent whose every connection is checked where it is opened: the name is resolved once, all its addresses
 * must satisfy the policy, and the socket goes to exactly those. TLS keeps checking the name. Redirects are the
 * caller's: each one is a new request, and a new connection goes through the same check.
 */
export function createGuardedAgent(options: GuardOptions = {}): Agent {
  const mayConnect = options.mayConnect ?? isForeignPublicAddress;
  const connect = buildConnector({
    timeout: options.connectMs ?? CONNECT_MS,
    allowH2: false,
    // Stated, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    lookup: guardLookup(options.resolve ?? resolveHost, mayConnect),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return new Agent({
    connect: (target, callback) => {
      // An address in the URL is never looked up, so it is checked here.
      const refusal = checkLiteral(target.hostname, mayConnect, options.mayUseLocalNames ?? false);
      if (refusal === null) connect(target, callback);
      else callback(refusal, null);
    },
    maxHeaderSize: options.maxHeaderBytes ?? MAX_HEADER_BYTES,
    headersTimeout: options.silenceMs ?? SILENCE_MS,
    bodyTimeout: options.silenceMs ?? SILENCE_MS,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    connections: 8,
  });
}

function checkLiteral(hostname: string, mayConnect: AddressPolicy, mayUseLocalNames: boolean): Error | null {
  if (isLocalName(hostname) && !mayUseLocalNames) return addressRefused(hostname);
  return isIP(hostname) !== 0 && !mayConnect(hostname) ? addressRefused(hostname) : null;
}

/** Names that mean this machine whatever a resolver says (RFC 6761). */
function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

function guardLookup(resolve: HostResolver, mayConnect: AddressPolicy): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) return callback(nameNotFound(hostname), '');
        // One address that is not allowed spoils the name: which one is used must not depend on luck.
        if (!addresses.every(({ address }) => mayConnect(address)))
          return callback(addressRefused(hostname), '');
        if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    );
  };
}
