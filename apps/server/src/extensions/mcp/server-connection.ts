import type { CallToolResult } from '@modelcontextprotocol/client';
import {
  BrokenCircuitError,
  circuitBreaker,
  ConsecutiveBreaker,
  ExponentialBackoff,
  handleWhen,
  noJitterGenerator,
} from 'cockatiel';
import type { Offer } from './offer.ts';
import { ServerLost } from './server-lost.ts';
import { ServerSession, type CallOptions, type SessionOptions } from './server-session.ts';

export interface ConnectionLimits {
  /** Milliseconds for the greeting, and for a list of tools. */
  connectMs: number;
  /** Milliseconds of a call without an answer or progress, and in all. */
  callMs: number;
  totalMs: number;
  /** Milliseconds after a first failure in which nothing is tried; doubled with each that follows, up to the other. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** Failures in a row after which nothing is tried until somebody checks the server. */
  maxFailures: number;
}
export const CONNECTION_LIMITS: ConnectionLimits = {
  connectMs: 30_000,
  callMs: 120_000,
  totalMs: 30 * 60_000,
  firstDelayMs: 1_000,
  maxDelayMs: 60_000,
  maxFailures: 6,
};

type Options = Omit<SessionOptions, 'era' | 'connectMs'> & { limits: ConnectionLimits };

/**
 * The connection to a server over time: made when it is first needed, made anew after it broke, with a growing pause
 * after each failure. Meanwhile calls fail at once with the last error. A failure is a greeting that failed or a
 * server that was lost during a call; a call that worked ends the row.
 */
export class ServerConnection {
  readonly #options: Options;
  readonly #breaker;
  #session: Promise<ServerSession> | null = null;
  #era: 'auto' | 'legacy' = 'auto';
  #failures = 0;
  #lastFailure: ServerLost | null = null;
  #gaveUpAt: number | null = null;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    const { firstDelayMs, maxDelayMs, maxFailures } = options.limits;
    this.#breaker = circuitBreaker(
      handleWhen((error) => error instanceof ServerLost),
      {
        breaker: new ConsecutiveBreaker(1),
        halfOpenAfter: new ExponentialBackoff({
          initialDelay: firstDelayMs,
          maxDelay: maxDelayMs,
          generator: noJitterGenerator,
        }),
      },
    );
    this.#breaker.onSuccess(() => {
      this.#failures = 0;
    });
    this.#breaker.onFailure(({ handled, reason }) => {
      if (!handled) return;
      this.#failures += 1;
      if ('error' in reason && reason.error instanceof ServerLost) this.#lastFailure = reason.error;
      if (this.#failures >= maxFailures) this.#gaveUpAt ??= Date.now();
    });
  }

  /** When it failed so often that nothing more is tried, in milliseconds since the epoch. */
  get gaveUpAt(): number | null {
    return this.#gaveUpAt;
  }

  /** What the server offers now. @throws ServerLost */
  offer(signal: AbortSignal): Promise<Offer> {
    return this.#guard(async () => (await this.#connect(signal)).offer());
  }

  /** @throws what `ServerSession.call` throws. */
  call(
    tool: string,
    args: Record<string, unknown>,
    options: Omit<CallOptions, 'callMs' | 'totalMs'> & {
      /** Throws when what the server offers now may not be used. */
      checkOffer: (offer: Offer) => void;
    },
  ): Promise<CallToolResult> {
    const { callMs, totalMs } = this.#options.limits;
    return this.#guard(async () => {
      const attempt = async () => {
        const session = await this.#connect(options.signal);
        options.checkOffer(await session.offer());
        return session.call(tool, args, { ...options, callMs, totalMs });
      };
      // A server that has forgotten the session has done nothing of the call.
      return attempt().catch((error: unknown) => {
        if (error instanceof ServerLost && error.hasForgotten) return attempt();
        throw error;
      });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const session = this.#session;
    this.#session = null;
    await session?.then((one) => one.close()).catch(() => undefined);
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    if (this.#gaveUpAt !== null)
      throw this.#explain('(It failed too often and is no longer tried; check it in the settings.)');
    try {
      return await this.#breaker.execute(work);
    } catch (error) {
      if (error instanceof BrokenCircuitError) throw this.#explain('(It will be tried again in a while.)');
      throw error;
    }
  }

  #explain(what: string): ServerLost {
    const why = `${this.#lastFailure?.why ?? ''} ${what}`;
    return new ServerLost(this.#options.server, why, { cause: this.#lastFailure });
  }

  /** The session that is open, or a new one; many callers share one greeting. */
  async #connect(signal: AbortSignal): Promise<ServerSession> {
    signal.throwIfAborted();
    const current = this.#session;
    const open = (await current?.catch(() => null)) ?? null;
    if (open !== null && !open.isOver) return open;
    // The first who notices lets go of it; the others find what that one opens.
    if (this.#session === current) this.#session = null;
    await open?.close();
    // Whoever comes late would open what nobody closes any more.
    if (this.#isClosed) throw new ServerLost(this.#options.server, 'The connection was closed.');
    this.#session ??= this.#open();
    return race(this.#session, signal);
  }

  async #open(): Promise<ServerSession> {
    const options = { ...this.#options, connectMs: this.#options.limits.connectMs };
    try {
      const session = await ServerSession.open({ ...options, era: this.#era });
      if (session.era === 'legacy') this.#era = 'legacy';
      return session;
    } catch (error) {
      const isAfraid = this.#era === 'auto' && error instanceof ServerLost && error.hasEnded;
      if (!isAfraid) {
        this.#session = null;
        throw error;
      }
      // It ended while it was asked which revision it speaks: it is greeted the old way.
      this.#era = 'legacy';
      return this.#open();
    }
  }
}

/** The result of shared work, unless this caller no longer wants it. */
function race<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason as Error);
  signal.addEventListener('abort', leave, { once: true });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', leave));
}
