import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebApp } from '../../channels/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import type { Logger } from '../../kernel/logger.ts';
import { claimKey, deleteOldKeys, keepAnswer, releaseKey, type KeyedRequest } from './idempotency.store.ts';
import { toProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while this request holds its `Idempotency-Key`. */
    keyed: KeyedRequest | null;
  }
}

const SWEEP_EVERY_MS = 3_600_000;

/**
 * `Idempotency-Key` on POST: a repeated request gets the first one's answer and does nothing. The key is taken before
 * the work and the answer stored before it is sent; a fault gives the key back. After a crash in between the key may
 * be taken over once a minute has passed.
 */
export function addIdempotency(app: WebApp, database: Database, logger: Logger): void {
  app.decorateRequest('keyed', null);
  app.addHook('preHandler', (request, reply) => claim(database, request, reply));
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.keyed === null) return payload;
    const { keyed } = request;
    request.keyed = null;
    try {
      if (reply.statusCode >= 500) await releaseKey(database, keyed);
      else await keepAnswer(database, keyed, toStoredAnswer(request, reply, payload));
    } catch (error) {
      logger.warn({ err: error }, 'could not store the answer of a request with an idempotency key');
    }
    return payload;
  });

  const sweep = setInterval(() => void deleteOldKeys(database).catch(() => undefined), SWEEP_EVERY_MS);
  sweep.unref();
  app.addHook('onClose', () => clearInterval(sweep));
}

async function claim(database: Database, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const key = request.headers['idempotency-key'];
  if (request.method !== 'POST' || key === undefined || request.viewer === null) return undefined;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new AppError('idempotency.bad-key', 'The idempotency key is not one.', {
      status: 422,
      hint: 'Use 1 to 255 visible ASCII characters; a UUID is good.',
      errors: [{ path: 'headers.idempotency-key', message: '1 to 255 visible ASCII characters' }],
    });
  }
  const keyed = { userId: request.viewer.userId, key, requestHash: hashRequest(request) };
  const state = await claimKey(database, keyed);
  if (state.kind === 'claimed') {
    request.keyed = keyed;
    return undefined;
  }
  if (state.kind === 'answered') return sendAgain(reply, state);
  throw state.kind === 'in-progress' ? inProgress(reply) : otherRequest();
}

/** Of a body that has not been read (an upload), its length stands for it. */
function hashRequest(request: FastifyRequest): string {
  const body = request.body ?? request.headers['content-length'] ?? null;
  return createHash('sha256')
    .update(`${request.method} ${request.url}\n${JSON.stringify(body)}`)
    .digest('hex');
}

function toStoredAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): { status: number; body: string | null } {
  if (request.routeOptions.config.isAnswerSecret === true && reply.statusCode < 300) {
    const { problem } = toProblem(
      new AppError('idempotency.shown-once', 'The first request was done; its answer is shown only once.', {
        status: 409,
        hint: 'Delete what it made and make another.',
      }),
      request.id,
    );
    return { status: 409, body: JSON.stringify(problem) };
  }
  return { status: reply.statusCode, body: typeof payload === 'string' && payload !== '' ? payload : null };
}

function sendAgain(reply: FastifyReply, answer: { status: number; body: unknown }): FastifyReply {
  void reply.code(answer.status).header('idempotency-replayed', 'true');
  if (answer.body === null) return reply.send();
  const type = answer.status >= 400 ? 'application/problem+json' : 'application/json; charset=utf-8';
  return reply.header('content-type', type).send(JSON.stringify(answer.body));
}

function inProgress(reply: FastifyReply): AppError {
  void reply.header('retry-after', '1');
  return new AppError('idempotency.in-progress', 'The first request with this key is still at work.', {
    status: 409,
    hint: 'Ask again in a second: you will get its answer.',
  });
}

function otherRequest(): AppError {
  return new AppError('idempotency.other-request', 'This key was used for another request.', {
    status: 422,
    hint: 'Use a new key for a new request.',
  });
}
