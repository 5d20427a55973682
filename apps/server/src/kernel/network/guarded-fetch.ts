import { fetch, type Agent, type Headers, type Response } from 'undici';
import type { AppError } from '../app-error.ts';
import { createGuardedAgent, type GuardOptions } from './guarded-agent.ts';
import { networkError, timedOut, toNetworkError, tooLarge } from './network-error.ts';
import { readBounded } from './read-bounded.ts';
import { parseLocation, parseTarget } from './target-url.ts';

export interface GuardedRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
  /** Milliseconds for everything, redirects and body included. 20 s by default. */
  totalMs?: number;
  /** Largest body after decompression; 5 MiB by default. */
  maxBytes?: number;
  /**
   * What becomes of a redirect. `follow` (default): up to five hops, each checked anew; across origins only the
   * harmless headers go along, and a body never does. `same-origin`: any other is a failure. `return`: the caller's.
   */
  redirects?: 'follow' | 'same-origin' | 'return';
  /** The caller's own rule about hosts, asked for each hop: the reason why not, or `null`. */
  refuseUrl?: (url: URL) => string | null;
}

export interface GuardedResponse {
  /** Where the answer came from in the end, without a fragment. */
  url: string;
  status: number;
  headers: Headers;
  /** The URLs that were left behind, in order. */
  redirects: string[];
  /** The body, once. Fails like the request itself. */
  bytes: () => Promise<Uint8Array>;
  /** Drops the body unread. */
  discard: () => Promise<void>;
}

/**
 * Fetches a URL that a model, a page or a user named. Failures are `AppError`s (see `network-error.ts`), or the
 * reason of the caller's signal.
 */
export type GuardedFetch = (url: string, request?: GuardedRequest) => Promise<GuardedResponse>;

const MAX_HOPS = 5;
const TOTAL_MS = 20_000;
const MAX_BYTES = 5 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** The only headers that another origin may see. */
const HARMLESS = new Set(['accept', 'accept-language', 'user-agent']);

/** The one guard for everything that goes out to a URL from outside. `close` ends its connections. */
export function createGuardedFetch(options: GuardOptions = {}): {
  fetch: GuardedFetch;
  close: () => Promise<void>;
} {
  const agent = createGuardedAgent(options);
  return { fetch: (url, request = {}) => follow(agent, url, request), close: () => agent.destroy() };
}

/** One request of the chain. */
interface Hop {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
}

async function follow(agent: Agent, url: string, request: GuardedRequest): Promise<GuardedResponse> {
  const deadline = AbortSignal.timeout(request.totalMs ?? TOTAL_MS);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]);
  const explain = (error: unknown, host: string): AppError => {
    request.signal?.throwIfAborted();
    return deadline.aborted ? timedOut(host, error) : toNetworkError(error, host);
  };
  const left: string[] = [];
  let hop: Hop = {
    url: parseTarget(url),
    method: request.method ?? 'GET',
    headers: lowerCase(request.headers ?? {}),
    body: request.body,
  };
  for (;;) {
    const { host } = hop.url;
    const reason = request.refuseUrl?.(hop.url) ?? null;
    if (reason !== null) throw networkError('host-refused', reason);
    const response = await send(agent, hop, signal).catch((error: unknown) => {
      throw explain(error, host);
    });
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
    if (location === null || request.redirects === 'return') {
      return toGuarded(response, hop.url, left, request.maxBytes ?? MAX_BYTES, explain);
    }
    await drop(response);
    left.push(hop.url.href);
    if (left.length > MAX_HOPS)
      throw networkError('redirects', `${parseTarget(url).host} redirects more than ${MAX_HOPS} times.`);
    hop = nextHop(hop, response.status, parseLocation(location, hop.url), request.redirects ?? 'follow');
  }
}

function send(agent: Agent, hop: Hop, signal: AbortSignal): Promise<Response> {
  return fetch(hop.url, {
    dispatcher: agent,
    redirect: 'manual',
    method: hop.method,
    headers: hop.headers,
    body: hop.body ?? null,
    signal,
  });
}

/** What is asked for next; a credential or a body stays with the origin it was meant for. */
function nextHop(hop: Hop, status: number, url: URL, mode: 'follow' | 'same-origin'): Hop {
  const isSameOrigin = url.origin === hop.url.origin;
  if (!isSameOrigin && mode === 'same-origin') {
    throw networkError('redirects', `${hop.url.host} redirects to another origin, ${url.host}.`);
  }
  const turnsToGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  const isBare = turnsToGet || hop.method === 'GET' || hop.method === 'HEAD';
  if (!isSameOrigin && !isBare) {
    throw networkError('redirects', `${hop.url.host} redirects a ${hop.method} to ${url.host}.`);
  }
  const headers = Object.entries(hop.headers).filter(
    ([name]) => HARMLESS.has(name) || (isSameOrigin && !(turnsToGet && name.startsWith('content-'))),
  );
  return {
    url,
    method: turnsToGet ? 'GET' : hop.method,
    headers: Object.fromEntries(headers),
    body: turnsToGet ? undefined : hop.body,
  };
}

function toGuarded(
  response: Response,
  url: URL,
  redirects: string[],
  maxBytes: number,
  explain: (error: unknown, host: string) => AppError,
): GuardedResponse {
  const bytes = async (): Promise<Uint8Array> => {
    if (response.body === null) return new Uint8Array();
    if (Number(response.headers.get('content-length')) > maxBytes) {
      await drop(response);
      throw tooLarge(url.host, maxBytes);
    }
    try {
      return await readBounded(response.body, maxBytes, url.host);
    } catch (error) {
      throw explain(error, url.host);
    }
  };
  const { status, headers } = response;
  return { url: url.href, status, headers, redirects, bytes, discard: () => drop(response) };
}

async function drop(response: Response): Promise<void> {
  // A body that has failed already is as gone as one that is cancelled.
  await response.body?.cancel().catch(() => undefined);
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (entries.some(([name]) => name === 'host')) throw new TypeError('The host comes from the URL.');
  return Object.fromEntries(entries);
}
