import { TOKEN_SCOPES, type TokenScope } from '@vitto/contracts';
import type { FastifyRequest } from 'fastify';
import {
  findApiToken,
  findSession,
  hashSecret,
  isSameSecret,
  LOCAL_CLI_TOKEN_NAME,
  type Session,
} from '../../identity/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import { requireScope, type Viewer } from '../../channels/index.ts';
import { SESSION_COOKIE } from './session-cookie.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Finds out who makes a request, by bearer token or session cookie.
 * @returns the viewer, and the session when it was found by cookie.
 * @throws AppError `sign-in.required` (401).
 */
export async function identifyViewer(
  database: Database,
  request: FastifyRequest,
): Promise<{ viewer: Viewer; session: Session | null }> {
  const authorization = request.headers.authorization;
  if (authorization !== undefined) {
    const token = /^bearer +([\w.~+/=-]+) *$/i.exec(authorization)?.[1];
    const found = token === undefined ? null : await findApiToken(database, token);
    if (found === null) throw notSignedIn('This token is not known, or has expired.');
    return { viewer: tokenViewer(found), session: null };
  }
  const cookie = request.cookies[SESSION_COOKIE];
  const session = cookie === undefined ? null : await findSession(database, cookie);
  if (cookie === undefined || session === null) throw notSignedIn('You are not signed in.');
  return { viewer: sessionViewer(session, hashSecret(cookie)), session };
}

function tokenViewer(found: NonNullable<Awaited<ReturnType<typeof findApiToken>>>): Viewer {
  return {
    userId: found.user.id,
    name: found.user.name,
    role: found.user.role,
    scopes: found.scopes,
    source: found.name === LOCAL_CLI_TOKEN_NAME ? 'cli' : 'api',
    csrfToken: null,
    credential: `token:${found.tokenId}`,
  };
}

function sessionViewer(session: Session, hash: string): Viewer {
  return {
    userId: session.user.id,
    name: session.user.name,
    role: session.user.role,
    scopes: TOKEN_SCOPES,
    source: 'web',
    csrfToken: session.csrfToken,
    credential: `session:${hash}`,
  };
}

function notSignedIn(message: string): AppError {
  return new AppError('sign-in.required', message, {
    status: 401,
    hint: 'Open a sign-in link (`npm run vitto -- sign-in` prints one), or send a personal token as `authorization: Bearer …`.',
  });
}

/**
 * A browser sends its cookie with whatever page asks for it: what changes something must come from Vitto's own pages.
 * @throws AppError `sign-in.cross-site` (403).
 */
export function checkSameSite(request: FastifyRequest, publicOrigin: string): void {
  if (SAFE_METHODS.has(request.method)) return;
  checkOrigin(request, publicOrigin);
}

/**
 * What other programs come in by takes a token and never a cookie, and no page of another site.
 * @throws AppError `sign-in.required` (401), `sign-in.cross-site` (403).
 */
export function checkDoor(request: FastifyRequest, publicOrigin: string): void {
  checkOrigin(request, publicOrigin);
  if (request.headers.authorization === undefined) throw notSignedIn('A personal token is needed here.');
}

function checkOrigin(request: FastifyRequest, publicOrigin: string): void {
  const { origin } = request.headers;
  if (origin !== undefined && origin !== publicOrigin && origin !== `${request.protocol}://${request.host}`) {
    throw new AppError('sign-in.cross-site', 'This request comes from another site.', {
      status: 403,
      hint: "Use Vitto's own pages, or a personal token.",
    });
  }
}

/** @throws AppError `sign-in.csrf` (403) when a browser's request lacks the token of its session. */
export function checkCsrf(request: FastifyRequest, viewer: Viewer): void {
  if (SAFE_METHODS.has(request.method) || viewer.csrfToken === null) return;
  const sent = request.headers['x-csrf-token'];
  if (typeof sent === 'string' && isSameSecret(sent, viewer.csrfToken)) return;
  throw new AppError('sign-in.csrf', 'The request lacks the token of its session.', {
    status: 403,
    hint: 'Send the `csrfToken` of GET /api/session as `x-csrf-token`.',
  });
}

/** @throws AppError `sign-in.read-only` (403) when somebody who may only look changes something. */
export function checkRole(request: FastifyRequest, viewer: Viewer): void {
  if (viewer.role !== 'viewer' || SAFE_METHODS.has(request.method)) return;
  if (request.routeOptions.url === '/api/session') return;
  throw new AppError('sign-in.read-only', 'Your role may look, not change.', {
    status: 403,
    hint: 'Ask the owner for another role.',
  });
}

/** What belongs to running tasks; a change of anything else is management. */
const RUN_PATHS = /^\/(?:api\/(?:conversations|tasks|artifacts|attachments|demo)|v1)(?:\/|$)/;
const APPROVAL_PATHS = /^\/api\/approvals(?:\/|$)/;

/** The scope that a token needs for the request: the route's own, else by its method and address. */
function scopeOf({ method, routeOptions }: FastifyRequest): TokenScope {
  const path = routeOptions.url ?? '';
  if (routeOptions.config.scope !== undefined) return routeOptions.config.scope;
  if (SAFE_METHODS.has(method)) return 'read';
  if (RUN_PATHS.test(path)) return 'run';
  return APPROVAL_PATHS.test(path) ? 'approve' : 'manage';
}

/** @throws AppError `sign-in.scope` (403) when a token may not do what the request asks. */
export function checkScope(request: FastifyRequest, viewer: Viewer): void {
  requireScope(viewer, scopeOf(request));
}
