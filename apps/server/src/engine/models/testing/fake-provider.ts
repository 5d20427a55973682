import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicDialect } from './anthropic-dialect.ts';
import { chatDialect, ollamaDialect, openrouterDialect } from './chat-dialect.ts';
import type { Dialect, FakeAnswer, JsonObject } from './fake-dialect.ts';
import { googleDialect } from './google-dialect.ts';
import { responsesDialect } from './responses-dialect.ts';

export type { FakeAnswer, FakeCall } from './fake-dialect.ts';

export const DIALECTS = {
  anthropic: anthropicDialect,
  openai: responsesDialect,
  google: googleDialect,
  openrouter: openrouterDialect,
  ollama: ollamaDialect,
  compatible: chatDialect,
};
export type DialectName = keyof typeof DIALECTS;

/** What the provider does with one request. */
export type FakeReply =
  | {
      answer: FakeAnswer;
      /** Bytes a write; absent: a frame a write. */
      bytesPerWrite?: number;
      /**
       * `cut`: the connection breaks before the ending. `stall`: nothing comes after the body. `pings`: only pings do.
       * `no-finish`: it ends in good order but unfinished. `error`: an error frame comes in place of the ending.
       */
      fault?: 'cut' | 'stall' | 'pings' | 'no-finish' | 'error';
    }
  | { status: number; headers?: Record<string, string>; message?: string; body?: unknown };

export interface FakeRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: JsonObject;
}

export interface FakeProvider {
  /** To be set as the provider's `baseUrl`. */
  url: string;
  /** All requests, refused ones too. */
  requests: FakeRequest[];
  /** Reasons of the 400s that strictness gave. */
  refusals: string[];
  close: () => Promise<void>;
}

/**
 * A provider on 127.0.0.1 that speaks the true format of the real one and is as strict: a body that is no
 * well-formed JSON, half a character, or a tool call without its result gets 400. `reply` says what comes else;
 * requests beyond a list get its last entry.
 */
export async function startFakeProvider(
  name: DialectName,
  reply: FakeReply[] | ((request: FakeRequest, index: number) => FakeReply | Promise<FakeReply>),
): Promise<FakeProvider> {
  const dialect = DIALECTS[name];
  const provider: Omit<FakeProvider, 'url' | 'close'> = { requests: [], refusals: [] };
  const next =
    typeof reply === 'function'
      ? reply
      : (_: FakeRequest, index: number) => reply[Math.min(index, reply.length - 1)];
  const server = createServer((request, response) => {
    void handle(request, response, dialect, provider, next).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { ...provider, url: `http://127.0.0.1:${port}`, close };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  dialect: Dialect,
  provider: Pick<FakeProvider, 'requests' | 'refusals'>,
  next: (request: FakeRequest, index: number) => FakeReply | undefined | Promise<FakeReply>,
): Promise<void> {
  const path = (request.url ?? '').replace(/\?.*$/u, '');
  const body = parseStrictly(await readBody(request));
  const seen = { path, headers: request.headers, body: typeof body === 'string' ? {} : body };
  const index = provider.requests.push(seen) - 1;
  if (!dialect.path.test(path))
    return sendError(response, dialect, { status: 404, message: `no ${path} here` });
  const reason = typeof body === 'string' ? body : dialect.refuse(body);
  if (reason !== null) {
    provider.refusals.push(reason);
    return sendError(response, dialect, { status: 400, message: reason });
  }
  const reply = await next(seen, index);
  if (reply === undefined)
    return sendError(response, dialect, { status: 500, message: 'the fake has no reply' });
  return 'status' in reply ? sendError(response, dialect, reply) : sendAnswer(response, dialect, reply);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The body, or why a strict parser refuses it. */
function parseStrictly(bytes: Buffer): JsonObject | string {
  try {
    const body: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof body !== 'object' || body === null) return 'the body is no JSON object';
    return isWellFormed(body) ? (body as JsonObject) : 'the body holds a lone surrogate';
  } catch {
    return 'the body is no well-formed JSON';
  }
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item));
}

function sendError(
  response: ServerResponse,
  dialect: Dialect,
  { status, headers, message, body }: Extract<FakeReply, { status: number }>,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body ?? dialect.errorBody(status, message ?? `fake ${status}`)));
}

const PING_EVERY_MS = 5;

async function sendAnswer(
  response: ServerResponse,
  dialect: Dialect,
  reply: Extract<FakeReply, { answer: FakeAnswer }>,
): Promise<void> {
  const { opening, body, ending } = dialect.encode(reply.answer);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const write = (text: string): Promise<void> => writeInPieces(response, text, reply.bytesPerWrite);
  for (const text of [...opening, ...body]) await write(text);
  switch (reply.fault) {
    case undefined:
      for (const text of ending) await write(text);
      response.end();
      return;
    case 'cut':
      response.socket?.destroy();
      return;
    case 'no-finish':
      response.end();
      return;
    case 'error':
      response.end(dialect.streamError(529, 'Overloaded'));
      return;
    case 'stall':
      return;
    case 'pings': {
      const timer = setInterval(() => response.write(dialect.ping), PING_EVERY_MS);
      response.on('close', () => clearInterval(timer));
    }
  }
}

/** Every piece leaves in a packet of its own, also in the middle of a character. */
async function writeInPieces(response: ServerResponse, text: string, size?: number): Promise<void> {
  const bytes = Buffer.from(text);
  response.socket?.setNoDelay(true);
  const step = size ?? Math.max(1, bytes.length);
  for (let start = 0; start < bytes.length; start += step) {
    await new Promise((resolve) => response.write(bytes.subarray(start, start + step), resolve));
  }
}
