import {
  Client,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type CallToolResult,
  type Progress,
  type ProtocolEra,
} from '@modelcontextprotocol/client';
import { AppError, describeError } from '../../kernel/app-error.ts';
import { cutText } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import type { OpenedTransport } from './open-transport.ts';
import { Offer } from './offer.ts';
import { ServerLost } from './server-lost.ts';

export interface SessionOptions {
  server: string;
  version: string;
  open: () => OpenedTransport;
  /** `auto` asks which revision of the protocol a server speaks; some old ones cannot stand the question. */
  era: 'auto' | 'legacy';
  /** Milliseconds for the greeting, and for a list. */
  connectMs: number;
  /** What it offers: told after the greeting, and again when the server says that its tools are others now. */
  onOffer: (offer: Promise<Offer>) => void;
}

export interface CallOptions {
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
  /** Milliseconds without an answer or progress, and in all. */
  callMs: number;
  totalMs: number;
}

const PROBE_MS = 5_000;
const MAX_PAGES = 20;
/** What a server says of its own results is not checked: its schemas could take any time. */
const NO_CHECK = {
  getValidator:
    () =>
    <T>(data: unknown) =>
      ({ valid: true, data: data as T }) as never,
};

/** One connection to a server, from its greeting to its end. */
export class ServerSession {
  readonly #options: SessionOptions;
  readonly #client: Client;
  readonly #opened: OpenedTransport;
  #offer: Promise<Offer> | null = null;
  #isOver = false;

  private constructor(options: SessionOptions) {
    this.#options = options;
    this.#opened = options.open();
    const onChanged = () => this.#listAgain();
    this.#client = new Client(
      { name: 'vitto', version: options.version },
      {
        jsonSchemaValidator: NO_CHECK,
        listMaxPages: MAX_PAGES,
        versionNegotiation: {
          mode: options.era,
          probe: { timeoutMs: Math.min(PROBE_MS, options.connectMs) },
        },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
      },
    );
    // Also from a server that did not announce that it would say so.
    this.#client.setNotificationHandler('notifications/tools/list_changed', onChanged);
    this.#client.onclose = () => {
      this.#isOver = true;
    };
  }

  /** @throws ServerLost */
  static async open(options: SessionOptions): Promise<ServerSession> {
    const session = new ServerSession(options);
    try {
      await session.#client.connect(session.#opened.transport, { timeout: options.connectMs });
      session.#offer = session.#list();
      await session.#offer;
      options.onOffer(session.#offer);
      return session;
    } catch (error) {
      const lost = session.#toLost(error);
      await session.close();
      throw lost;
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }
  get era(): ProtocolEra | undefined {
    return this.#client.getProtocolEra();
  }
  /** What the server offers now. @throws ServerLost */
  async offer(): Promise<Offer> {
    try {
      return await (this.#offer ??= this.#list());
    } catch (error) {
      this.#offer = null;
      throw this.#toLost(error);
    }
  }

  /**
   * @throws ServerLost when the server is gone; AppError `mcp.timeout`; ProtocolError, the server's refusal; or the
   *   signal's reason, at once: the server is told that its answer is no longer wanted.
   */
  async call(tool: string, args: Record<string, unknown>, options: CallOptions): Promise<CallToolResult> {
    const { signal, callMs, totalMs } = options;
    try {
      return await this.#client.callTool(
        { name: tool, arguments: args },
        {
          signal,
          onprogress: options.onProgress,
          timeout: callMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: totalMs,
        },
      );
    } catch (error) {
      signal.throwIfAborted();
      if (SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout)
        throw this.#timedOut(tool);
      if (this.#isOver || isBroken(error)) throw this.#toLost(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#client.close().catch(() => undefined);
    // A transport that was never attached is not closed by the client.
    await this.#opened.transport.close().catch(() => undefined);
    await this.#opened.release();
  }

  async #list(): Promise<Offer> {
    const timeout = this.#options.connectMs;
    const { tools } = await this.#client.listTools(undefined, { timeout, cacheMode: 'bypass' });
    return new Offer(this.#options.server, tools);
  }

  #listAgain(): void {
    // What is called from now on waits for the new list.
    this.#offer = this.#list();
    this.#options.onOffer(this.#offer);
  }

  #timedOut(tool: string): AppError {
    const { server } = this.#options;
    return new AppError('mcp.timeout', `The MCP server ${server} gave no answer to ${tool} in time.`, {
      status: 504,
      hint: 'The server was told to stop. What it has done by then is unknown.',
    });
  }

  #toLost(error: unknown): AppError {
    if (error instanceof AppError && error.code.startsWith('mcp.')) return error;
    this.#isOver = true;
    const why = [causeOf(error)?.message ?? describeError(error), this.#opened.story()];
    const told = why
      .filter((part) => part !== null)
      .map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
      .join(' ');
    return new ServerLost(this.#options.server, cutText(maskSecrets(told), 3_000), {
      hasEnded: this.#opened.hasEnded(),
      hasForgotten: SdkHttpError.isInstance(error) && error.status === 404,
      cause: error,
    });
  }
}

/** True for a failure of the connection, false for an answer that is an error. */
function isBroken(error: unknown): boolean {
  if (SdkHttpError.isInstance(error)) return true;
  if (SdkError.isInstance(error)) return LOST.has(error.code);
  return error instanceof TypeError || causeOf(error) !== null;
}
const LOST = new Set([SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected, SdkErrorCode.SendFailed]);

/** The guard's own refusal beneath what the HTTP client threw. */
function causeOf(error: unknown): AppError | null {
  let current = error;
  for (let depth = 0; depth < 6 && current instanceof Error; depth += 1) {
    if (current instanceof AppError) return current;
    current = current.cause;
  }
  return null;
}
