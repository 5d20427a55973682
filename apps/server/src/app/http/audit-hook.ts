import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditedAct, AuditedCall, WebApp } from '../../channels/index.ts';
import { recordAudit, type AuditAct } from '../../audit/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import type { Logger } from '../../kernel/logger.ts';
import { RefusalLimit } from './refusal-limit.ts';
import { isApiPath } from './web-files.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What a route answers, before it is text: some facts of an entry are taken from it. */
    answered: unknown;
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * One place that writes the audit trail for every route: what changed something once it is done and before it is
 * answered, and what was refused for who asked. Register it after the idempotency keys and before the routes: a
 * repeated request leaves no second entry.
 */
export function addAudit(app: WebApp, database: Database, logger: Logger): void {
  const refusals = new RefusalLimit();
  const write = (act: AuditAct) => recordAudit(database.pool, act);
  listUnauditedRoutes(app);
  app.decorateRequest('answered', null);
  app.decorateRequest('recordAudit', function (this: FastifyRequest, call: AuditedCall) {
    return write(toAct(this, call));
  });
  app.decorateRequest(
    'recordRefusal',
    async function (this: FastifyRequest, object: string, objectId: string, code: string) {
      const call = { action: 'access.refused', object, objectId, detail: { code } };
      await writeRefusal(write, logger, refusals, this, call);
    },
  );
  app.addHook('preSerialization', async (request, _reply, payload) => {
    request.answered = payload;
    return payload;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { audit } = request.routeOptions.config;
    if (reply.statusCode < 400) {
      if (audit === undefined || 'none' in audit || reply.hasHeader('idempotency-replayed')) return payload;
      await writeDone(write, logger, toAct(request, describeAct(audit, request)));
    } else if (isRefusal(request, reply)) {
      await writeRefusal(write, logger, refusals, request, describeRefusal(request, payload));
    }
    return payload;
  });
}

function listUnauditedRoutes(app: WebApp): void {
  const unaudited: string[] = [];
  app.decorate('unauditedRoutes', unaudited);
  app.addHook('onRoute', (route) => {
    if (!isApiPath(route.url) || route.config?.audit !== undefined) return;
    const methods = [route.method].flat().filter((method) => !SAFE_METHODS.has(method));
    unaudited.push(...methods.map((method) => `${method} ${route.url}`));
  });
}

function describeAct(audit: AuditedAct, request: FastifyRequest): AuditedCall {
  const answer = (request.answered ?? {}) as Record<string, unknown>;
  const [parameter] = Object.values((request.params ?? {}) as Record<string, string>);
  const id = parameter ?? answer['id'];
  return {
    action: audit.action,
    object: audit.object,
    objectId: typeof id === 'string' ? id : null,
    detail: audit.detail?.(request, answer) ?? {},
  };
}

function toAct(request: FastifyRequest, call: AuditedCall): AuditAct {
  const { viewer } = request;
  // Whoever has just signed in is the one who did it.
  const signedIn = call.object === 'user' ? call.objectId : null;
  return {
    actorId: viewer?.userId ?? signedIn,
    via: viewer?.source ?? 'web',
    address: request.ip,
    action: call.action,
    objectType: call.object,
    objectId: call.objectId,
    detail: call.detail ?? {},
  };
}

/** @throws AppError `audit.not-written` (503): what cannot be recorded is not confirmed. */
async function writeDone(write: (act: AuditAct) => Promise<void>, logger: Logger, act: AuditAct) {
  try {
    await write(act);
  } catch (error) {
    logger.error({ err: error, act }, 'an act was done and could not be written to the audit trail');
    throw new AppError('audit.not-written', 'It was done, but could not be written to the audit trail.', {
      status: 503,
      hint: 'Look whether it is there before you do it again; the log has the act.',
    });
  }
}

/**
 * Asked by somebody who may not, or with a code or token that does not hold. A browser without a session, which asks
 * whether it has one, is neither.
 */
function isRefusal(request: FastifyRequest, reply: FastifyReply): boolean {
  if (reply.statusCode === 403) return true;
  if (reply.statusCode !== 401) return false;
  const isSignIn = request.method === 'POST' && request.routeOptions.url === '/api/session';
  return isSignIn || request.headers.authorization !== undefined;
}

function describeRefusal(request: FastifyRequest, payload: unknown): AuditedCall {
  return {
    action: request.viewer === null ? 'sign-in.failed' : 'access.refused',
    object: 'route',
    objectId: `${request.method} ${request.routeOptions.url ?? ''}`,
    detail: { code: readCode(payload) },
  };
}

async function writeRefusal(
  write: (act: AuditAct) => Promise<void>,
  logger: Logger,
  refusals: RefusalLimit,
  request: FastifyRequest,
  call: AuditedCall,
): Promise<void> {
  const leftOut = refusals.take(request.ip);
  if (leftOut === null) return;
  const detail = { ...call.detail, ...(leftOut === 0 ? {} : { leftOut }) };
  const act = toAct(request, { ...call, detail });
  await write(act).catch((error: unknown) =>
    logger.error({ err: error, act }, 'a refusal could not be written to the audit trail'),
  );
}

function readCode(payload: unknown): string {
  if (typeof payload !== 'string') return '';
  return /"code":"([\w.-]+)"/.exec(payload)?.[1] ?? '';
}
