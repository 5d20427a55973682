import {
  apiToken,
  createApiToken as createToken,
  createdApiToken,
  me,
  signIn,
  signInCode,
  TOKEN_SCOPES,
} from '@vitto/contracts';
import { z } from 'zod';
import { idParams, nothing, requireScope, viewerOf, type Viewer, type WebApp } from '../../channels/index.ts';
import {
  createApiToken,
  createSignInCode,
  deleteApiToken,
  endSession,
  findSession,
  listApiTokens,
  redeemSignInCode,
  SIGN_IN_CODE_MINUTES,
} from '../../identity/index.ts';
import type { Database } from '../../kernel/database/database.ts';
import { readLastPosition } from '../../runs/index.ts';
import { SESSION_COOKIE, sessionCookieOptions } from './session-cookie.ts';
import type { EventHub } from './streams/event-hub.ts';

/** Sign-in, sign-out and personal tokens. */
export function addIdentityRoutes(
  app: WebApp,
  deps: {
    database: Database;
    hub: Pick<EventHub, 'endCredential'>;
    publicUrl: string;
    attemptsPerMinute: number;
  },
): void {
  addSessionRoutes(app, deps);
  addSignInCodeRoute(app, deps);
  addTokenRoutes(app, deps);
}

type IdentityDependencies = Parameters<typeof addIdentityRoutes>[1];

function addSessionRoutes(app: WebApp, deps: IdentityDependencies): void {
  const { database, hub, publicUrl } = deps;
  const tags = ['sign-in'];
  const cookie = sessionCookieOptions(publicUrl);

  app.post(
    '/api/session',
    {
      config: {
        audit: { action: 'sign-in.done', object: 'user' },
        access: 'open',
        rateLimit: { max: deps.attemptsPerMinute, timeWindow: '1 minute' },
      },
      schema: {
        tags,
        summary: 'Sign in with a one-time code',
        description: 'Answers with the cookie `vitto_session`. A code works once, for 15 minutes.',
        security: [],
        body: signIn,
        response: { 201: me },
      },
    },
    async (request, reply) => {
      const { secret } = await redeemSignInCode(database, request.body.code);
      const session = await findSession(database, secret);
      if (session === null) throw new Error('the session that was just begun is gone');
      const { id, name, role } = session.user;
      return reply
        .code(201)
        .setCookie(SESSION_COOKIE, secret, cookie)
        .send({
          id,
          name,
          role,
          csrfToken: session.csrfToken,
          lastPosition: await readLastPosition(database.pool, id),
        });
    },
  );

  app.get('/api/session', { schema: { tags, summary: 'Who I am', response: { 200: me } } }, (request) =>
    readMe(database, viewerOf(request)),
  );

  app.delete(
    '/api/session',
    {
      config: { audit: { action: 'sign-in.ended', object: 'session' } },
      schema: { tags, summary: 'Sign out', response: { 204: nothing } },
    },
    async (request, reply) => {
      const viewer = viewerOf(request);
      const secret = request.cookies[SESSION_COOKIE];
      if (viewer.source === 'web' && secret !== undefined) {
        await endSession(database, secret);
        hub.endCredential(viewer.credential);
      }
      return reply.clearCookie(SESSION_COOKIE, cookie).code(204).send(undefined);
    },
  );
}

function addSignInCodeRoute(app: WebApp, deps: IdentityDependencies): void {
  app.post(
    '/api/sign-in-codes',
    {
      config: {
        audit: { action: 'sign-in.code-made', object: 'sign-in-code' },
        isAnswerSecret: true,
        rateLimit: { max: deps.attemptsPerMinute, timeWindow: '1 minute' },
      },
      schema: {
        tags: ['sign-in'],
        summary: 'Make a one-time code to sign in elsewhere; it is shown once',
        body: z.strictObject({}).nullish(),
        response: { 201: signInCode },
      },
    },
    async (request, reply) => {
      // A session may do everything, so that a token must be able to do everything to make one.
      for (const scope of TOKEN_SCOPES) requireScope(viewerOf(request), scope);
      const code = await createSignInCode(deps.database, viewerOf(request).userId);
      const expiresAt = new Date(Date.now() + SIGN_IN_CODE_MINUTES * 60_000).toISOString();
      return reply.code(201).send({ code, expiresAt });
    },
  );
}

function addTokenRoutes(app: WebApp, deps: IdentityDependencies): void {
  const { database, hub } = deps;
  const tags = ['sign-in'];

  app.get(
    '/api/tokens',
    {
      schema: {
        tags,
        summary: 'My personal tokens',
        response: { 200: z.object({ items: z.array(apiToken) }) },
      },
    },
    async (request) => ({ items: await listApiTokens(database, viewerOf(request).userId) }),
  );

  app.post(
    '/api/tokens',
    {
      config: {
        audit: {
          action: 'token.created',
          object: 'token',
          detail: (_, answer) => ({
            name: String(answer['name']),
            scopes: (answer['scopes'] ?? []) as string[],
          }),
        },
        isAnswerSecret: true,
        rateLimit: { max: deps.attemptsPerMinute, timeWindow: '1 minute' },
      },
      schema: {
        tags,
        summary: 'Make a personal token; it is shown once',
        body: createToken,
        response: { 201: createdApiToken },
      },
    },
    async (request, reply) => {
      const viewer = viewerOf(request);
      // No token makes one that may do more than itself.
      for (const scope of request.body.scopes ?? TOKEN_SCOPES) requireScope(viewer, scope);
      return reply.code(201).send(await createApiToken(database, viewer.userId, request.body));
    },
  );

  app.delete(
    '/api/tokens/:id',
    {
      config: { audit: { action: 'token.deleted', object: 'token' } },
      schema: {
        tags,
        summary: 'Delete a personal token; it stops working at once',
        params: idParams,
        response: { 204: nothing },
      },
    },
    async (request, reply) => {
      await deleteApiToken(database, viewerOf(request).userId, request.params.id);
      hub.endCredential(`token:${request.params.id}`);
      return reply.code(204).send(undefined);
    },
  );
}

async function readMe(database: Database, viewer: Viewer) {
  const { userId, name, role, csrfToken } = viewer;
  return { id: userId, name, role, csrfToken, lastPosition: await readLastPosition(database.pool, userId) };
}
