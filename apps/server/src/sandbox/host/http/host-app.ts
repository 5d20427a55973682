import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '@vitto/contracts';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { SandboxHost } from '../sandbox-host.ts';

/** The HTTP server of a sandbox host. It is one of its own: none of the guards and rewritings of people's API are in it. */
export type HostApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export interface HostApiDependencies {
  host: SandboxHost;
  /** Whoever shows it may do everything: it belongs to servers and workers, never to people or guests. */
  token: string;
  /** How many refusals of an address were left out of the log; `null`: it has been refused too often lately. */
  noteRefusal: (address: string) => number | null;
  /** What is told of an error once an answer has begun; defects go to the log. */
  describeError: (error: unknown, request: FastifyRequest) => Problem;
}

/** Largest body of a call, in bytes. */
export const CALL_LIMIT = 8 * 1024 * 1024;
/** Largest body of a call that carries a file: 64 MiB of content in base64. */
export const FILE_LIMIT = 88 * 1024 * 1024;

export function wantsStream(request: FastifyRequest): boolean {
  return request.headers.accept?.toLowerCase().includes('text/event-stream') ?? false;
}

/** Aborts when the client goes before it has its answer: what it asked for is then ended, too. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply;
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort(new Error('the client is gone'));
  });
  if (raw.destroyed) controller.abort(new Error('the client is gone'));
  return controller.signal;
}
