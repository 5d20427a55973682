import { problem } from '@vitto/contracts';
import { ExponentialBackoff, handleWhen, retry } from 'cockatiel';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Agent, request, type Dispatcher } from 'undici';
import { AppError, describeError } from '../../kernel/app-error.ts';
import { fromProblem } from './http/guest-problem.ts';
import { API_ROOT, SILENCE_MS } from './http/wire.ts';

const CONNECT_MS = 5_000;
/** What the way there and back may take beyond what the call itself may, in milliseconds. */
export const ALLOWANCE_MS = 30_000;

const LATE = 'it did not answer in time';
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  UND_ERR_SOCKET: 'the connection broke off',
  UND_ERR_CONNECT_TIMEOUT: LATE,
  UND_ERR_HEADERS_TIMEOUT: LATE,
  UND_ERR_BODY_TIMEOUT: 'it fell silent',
};

export interface HostCall {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/infrastructure/sandbox`. */
  path: string;
  query?: Record<string, string>;
  body?: object;
  /** The most that the call may take at the other end, in milliseconds; absent for a stream: without end. */
  limitMs?: number;
  signal?: AbortSignal | undefined;
}

/**
 * HTTP to one sandbox host over kept connections. What the host refuses is thrown as the error that it was there; a host
 * that cannot be reached, breaks off or says nothing for too long is `sandbox.unreachable` (503). Reads are tried again
 * when the connection fails, nothing else is: whether it was done is not known.
 */
export class HostConnection {
  readonly url: string;
  readonly token: string;
  readonly #agent = new Agent({ connect: { timeout: CONNECT_MS }, connections: 128, pipelining: 1 });
  readonly #reads = retry(handleWhen(isUnreachable), {
    maxAttempts: 2,
    backoff: new ExponentialBackoff({ initialDelay: 100, maxDelay: 1_000 }),
  });

  constructor(options: { url: string; token: string }) {
    this.url = options.url;
    this.token = options.token;
  }

  async read<T>(call: HostCall): Promise<T> {
    return this.#reads.execute(() => this.call<T>({ ...call, method: 'GET' }));
  }

  async call<T>(call: HostCall): Promise<T> {
    const answer = await this.#send(call, 'application/json', (call.limitMs ?? 0) + ALLOWANCE_MS);
    try {
      const text = await answer.body.text();
      return (text === '' ? undefined : JSON.parse(text)) as T;
    } catch (error) {
      throw this.#toError(error, call.signal);
    }
  }

  /** Reads an answer as events, each handled before more is read. @throws what the host sent as its `problem`. */
  async stream(
    call: HostCall,
    onEvent: (event: string, data: string) => Promise<void> | void,
  ): Promise<void> {
    const limit = call.limitMs === undefined ? null : AbortSignal.timeout(call.limitMs + ALLOWANCE_MS);
    const signal = AbortSignal.any([call.signal, limit].filter((one) => one !== null && one !== undefined));
    const answer = await this.#send({ ...call, signal }, 'text/event-stream', SILENCE_MS);
    const events: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => events.push(event) });
    const decoder = new TextDecoder();
    const chunks = answer.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    try {
      for (let chunk = await this.#next(chunks, call.signal); chunk !== null;) {
        parser.feed(decoder.decode(chunk, { stream: true }));
        for (const { event = '', data } of events.splice(0)) {
          if (event === 'problem') throw fromProblem(problem.parse(JSON.parse(data)));
          await onEvent(event, data);
        }
        chunk = await this.#next(chunks, call.signal);
      }
    } finally {
      answer.body.destroy();
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** What is said of a host that does not answer as it should. */
  unreachable(why: string): AppError {
    return new AppError('sandbox.unreachable', `The sandbox host ${this.url} cannot be reached: ${why}.`, {
      status: 503,
      hint: 'See whether it runs (`vitto sandbox-host` there) and whether its address and port are open to this machine. Tasks go on on another host, or here once it is back.',
    });
  }

  async #next(chunks: AsyncIterator<Buffer>, signal: AbortSignal | undefined): Promise<Buffer | null> {
    try {
      const next = await chunks.next();
      return next.done === true ? null : next.value;
    } catch (error) {
      throw this.#toError(error, signal);
    }
  }

  async #send(call: HostCall, accept: string, silenceMs: number): Promise<Dispatcher.ResponseData> {
    const { method = 'POST', path, query, body, signal } = call;
    let answer: Dispatcher.ResponseData;
    try {
      answer = await request(`${this.url}${API_ROOT}${path}`, {
        dispatcher: this.#agent,
        method,
        headers: {
          authorization: `Bearer ${this.token}`,
          accept,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(query === undefined ? {} : { query }),
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw this.#toError(error, signal);
    }
    if (answer.statusCode < 400) return answer;
    throw await this.#toRefusal(answer);
  }

  async #toRefusal(answer: Dispatcher.ResponseData): Promise<Error> {
    const text = await answer.body.text().catch(() => '');
    return (
      readRefusal(text) ??
      this.unreachable(`it answers with status ${answer.statusCode}, not as a sandbox host`)
    );
  }

  #toError(error: unknown, signal: AbortSignal | undefined): unknown {
    // Whoever called gave up; that is no fault of the host. A limit of time is.
    const isTimeout = signal?.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
    if (signal?.aborted === true && !isTimeout) return signal.reason;
    const { code } = error as NodeJS.ErrnoException;
    return this.unreachable(isTimeout ? LATE : (REASONS[code ?? ''] ?? code ?? describeError(error)));
  }
}

/** What a host answered with, when that is a problem of Vitto's. */
export function readRefusal(text: string): Error | null {
  try {
    const error = fromProblem(problem.parse(JSON.parse(text)));
    // The host refuses this server, not the person who asked it.
    if (error instanceof AppError && [401, 429].includes(error.status)) {
      const { code, message, hint } = error;
      return new AppError(code, message, { status: 502, ...(hint === undefined ? {} : { hint }) });
    }
    return error;
  } catch {
    return null;
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'sandbox.unreachable';
}
