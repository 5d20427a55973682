import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Me, TokenScope } from '@vitto/contracts';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';

/** The HTTP server with request and answer types taken from the routes' zod schemas. */
export type WebApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Who makes a request. Everything a route reads or writes is bound to `userId`. */
export interface Viewer {
  userId: string;
  name: string;
  role: Me['role'];
  /** Where it comes from, as shown with messages and decisions. */
  source: 'web' | 'cli' | 'api' | 'mcp' | 'openai';
  /** What the request may do; a session may do everything that its user may. */
  scopes: readonly TokenScope[];
  /** Of a browser's session; `null` for a token. */
  csrfToken: string | null;
  /** Names the session or token, without being its secret: a stream ends with the credential it was opened with. */
  credential: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    viewer: Viewer | null;
  }
  interface FastifyContextConfig {
    /** `open`: needs no sign-in. Every other route under /api does. */
    access?: 'open';
    /** What a token needs for this route; absent: by method and address, see the guard. */
    scope?: TokenScope;
    /** The answer holds a secret that is shown once: it is not kept for a repeated `Idempotency-Key`. */
    isAnswerSecret?: boolean;
  }
}

/** The signed-in person of a request; the guard has let nobody else in. */
export function viewerOf(request: FastifyRequest): Viewer {
  if (request.viewer === null) throw new Error('a route that needs a viewer was reached without one');
  return request.viewer;
}

export const idParams = z.object({ id: z.uuid() });
/** An answer without a body. */
export const nothing = z.undefined().describe('Done; the answer has no body.');
