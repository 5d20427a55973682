import type { Socket } from 'node:net';
import cookie from '@fastify/cookie';
import rateLimit from '@fastify/rate-limit';
import type { ComponentStatus, SystemStatus } from '@vitto/contracts';
import fastify, { LogController, type FastifyReply, type FastifyRequest } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { addWebRoutes, type StartDemo, type WebApp } from '../../channels/index.ts';
import { Skills, type McpServers } from '../../extensions/index.ts';
import type { DeployKeys, Secrets } from '../../identity/index.ts';
import type { OutcomeFeedbackService } from '../../intelligence/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import { routeUpgrades } from '../../kernel/network/http-upgrade.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { SignalBus } from '../../kernel/signal-bus.ts';
import type { HostApp, SandboxHosts } from '../../sandbox/index.ts';
import type { ModelSetupService } from '../model-setup.ts';
import {
  readLastPosition,
  readTaskEventsAfterPosition,
  readUserEvents,
  type RunDependencies,
} from '../../runs/index.ts';
import { addAudit } from './audit-hook.ts';
import { addAuditRoutes } from './audit-routes.ts';
import { addCostRoutes } from './cost-routes.ts';
import { addDoors, doorOf, toDoorError } from './doors.ts';
import { addEventRoutes } from './event-routes.ts';
import { checkCsrf, checkDoor, checkRole, checkScope, checkSameSite, identifyViewer } from './guard.ts';
import { addHealthRoutes } from './health-routes.ts';
import { checkHost, toAllowedHosts } from './host-check.ts';
import { addIdempotency } from './idempotency.ts';
import type { Notices } from '../../notices/index.ts';
import { addIdentityRoutes } from './identity-routes.ts';
import { addMcpServerRoutes } from './mcp-server-routes.ts';
import { addJsonBodies, makeBodyStorable, refuseEncodedBody } from './json-body.ts';
import { addModelRoutes } from './model-routes.ts';
import { addOpenApi } from './openapi.ts';
import { addOutcomeRoutes } from './outcome-routes.ts';
import { toProblem } from './problem.ts';
import { addSandboxRoutes } from './sandbox-routes.ts';
import { addDeployKeyRoutes } from './deploy-key-routes.ts';
import { addSecretRoutes } from './secret-routes.ts';
import { addSecurityHeaders } from './security-headers.ts';
import { SESSION_COOKIE, sessionCookieOptions } from './session-cookie.ts';
import { addPushRoutes } from './push-routes.ts';
import { addSettingsRoutes } from './settings-routes.ts';
import { addSkillRoutes } from './skill-routes.ts';
import { addWebhookRoutes } from './webhook-routes.ts';
import { EventHub, STREAM_LIMITS, type EventReads, type StreamLimits } from './streams/event-hub.ts';
import { addWebFiles, isApiPath, isPageRequest, sendPage } from './web-files.ts';

/** Largest body of a request, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

export interface HttpDependencies {
  database: Database;
  signals: Pick<SignalBus, 'listen'>;
  runs: RunDependencies;
  readSystemStatus: (userId: string) => Promise<SystemStatus>;
  startDemo: StartDemo;
  secrets: Secrets;
  deployKeys: DeployKeys;
  mcpServers: McpServers;
  modelSetup: ModelSetupService;
  /** The main models of a user's tasks, in the order they are tried. */
  listMainModels: (userId: string) => Promise<string[]>;
  notices: Notices;
  outcomes: OutcomeFeedbackService;
  sandboxHosts: SandboxHosts;
  /** For /healthz, in bounded time. */
  readSandboxState?: () => Promise<ComponentStatus['state']>;
  /** Of a command in a machine that names no limit, in milliseconds. */
  commandTimeoutMs: number;
  /** The API of this process's own sandbox host, when others reach it under this port. */
  sandboxApi?: HostApp | null;
  /** What a user may spend a day at most, in US dollars; `null`: no limit. */
  dailyCostUsd: number | null;
  logger: Logger;
  version: string;
  /** The address it is bound to: on loopback, requests under unknown names are refused. */
  host: string;
  /** Where people open it: `http://127.0.0.1:4800`. */
  publicUrl: string;
  /** More names under which it may be asked for on loopback. */
  allowedHosts?: string[];
  /** Folder of the built web app; it need not exist yet. */
  webRoot: string;
  /** True behind a proxy that sets `x-forwarded-*`. */
  trustProxy?: boolean;
  /** Sign-ins and new tokens an address may try in a minute. */
  attemptsPerMinute?: number;
  streamLimits?: Partial<StreamLimits>;
  /** Between two comments of an answer that is streamed to a program, in milliseconds. */
  keepAliveMs?: number;
}

/**
 * Builds the HTTP server: REST, OpenAPI, sign-in, event streams and the web app's files. It does not listen yet:
 * `await app.listen({ host, port })`, and `await app.close()` ends the streams and then the server.
 */
export async function createHttpServer(deps: HttpDependencies): Promise<WebApp> {
  const app = createApp(deps);
  addProblems(app, deps);
  addRequestLog(app, deps.logger);
  addJsonBodies(app);
  await addSecurityHeaders(app, deps.publicUrl);
  await app.register(cookie);
  addGuards(app, deps);
  await app.register(rateLimit, { global: false, errorResponseBuilder: tooManyAttempts });
  app.addHook('preHandler', async (request) => makeBodyStorable(request));
  addMasking(app, deps.secrets);
  addIdempotency(app, deps.database, deps.logger);
  addAudit(app, deps.database, deps.logger);
  await addOpenApi(app, deps);
  addRoutes(app, deps);
  if (deps.sandboxApi) mountSandboxApi(app, deps.sandboxApi);
  await addWebFiles(app, deps.webRoot);
  routeUpgrades(app.server, (request, response) => app.routing(request, response));
  return app;
}

function createApp(deps: HttpDependencies): WebApp {
  const app = fastify({
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    bodyLimit: BODY_LIMIT,
    trustProxy: deps.trustProxy ?? false,
    exposeHeadRoutes: false,
    // A request that is not whole by then is cut; answers may take as long as they like.
    requestTimeout: 60_000,
    // A client that keeps its connection must not hold up the end of the server.
    forceCloseConnections: true,
    genReqId: newId,
    frameworkErrors: (error, request, reply) => void sendProblem(deps, error, request, reply),
    clientErrorHandler: refuseGarbage,
  }) as unknown as WebApp;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.decorateRequest('viewer', null);
  return app;
}

function addProblems(app: WebApp, deps: HttpDependencies): void {
  app.setErrorHandler((error, request, reply) => sendProblem(deps, error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    if (isPageRequest(request)) return sendPage(reply, deps.webRoot);
    throw new AppError('request.no-such-route', 'There is nothing at this address.', {
      status: 404,
      hint: 'GET /api/openapi.json lists what there is.',
    });
  });
}

function sendProblem(
  deps: HttpDependencies,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { problem, headers, isDefect } = toProblem(error, request.id, request.routeOptions.bodyLimit);
  if (isDefect) {
    const route = request.routeOptions.url ?? 'unknown route';
    deps.logger.error(
      { err: error, reference: request.id, method: request.method, route },
      'a request failed',
    );
  }
  const door = doorOf(request.routeOptions.url ?? request.url);
  const sent = door === null ? { status: problem.status, body: problem } : toDoorError(door, problem);
  return reply
    .code(sent.status)
    .headers(headers)
    .header('content-type', door === null ? 'application/problem+json' : 'application/json; charset=utf-8')
    .send(JSON.stringify(sent.body));
}

function addGuards(app: WebApp, deps: HttpDependencies): void {
  const allowedHosts = toAllowedHosts({ ...deps, allowedHosts: deps.allowedHosts ?? [] });
  const publicOrigin = new URL(deps.publicUrl).origin;
  const cookieOptions = sessionCookieOptions(deps.publicUrl);

  app.addHook('onRequest', async (request, reply) => {
    checkHost(request, allowedHosts);
    refuseEncodedBody(request);
    const isApi = isApiPath(request.routeOptions.url ?? '');
    if (isApi) void reply.header('cache-control', 'no-store');
    if (!isApi) return;
    if (request.routeOptions.config.access === 'open') return checkSameSite(request, publicOrigin);
    const door = doorOf(request.routeOptions.url ?? request.url);
    if (door !== null) checkDoor(request, publicOrigin);
    const { viewer, session } = await identifyViewer(deps.database, request);
    // Known from here on, so that a refusal is recorded with who was refused.
    request.viewer = door === null ? viewer : { ...viewer, source: door };
    if (session !== null) {
      checkSameSite(request, publicOrigin);
      const secret = request.cookies[SESSION_COOKIE];
      if (session.isRenewed && secret !== undefined) reply.setCookie(SESSION_COOKIE, secret, cookieOptions);
    }
    checkCsrf(request, viewer);
    // The tools of the MCP server are told apart one by one: each of its requests is a POST.
    if (door === 'mcp') return;
    checkRole(request, viewer);
    checkScope(request, viewer);
  });
}

/** Whatever a request writes or logs has its user's secrets masked. */
function addMasking(app: WebApp, secrets: Secrets): void {
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.viewer === null) return done();
    secrets.masking(request.viewer.userId, done).catch(done);
  });
}

function addRoutes(app: WebApp, deps: HttpDependencies): void {
  const { database, runs, logger } = deps;
  const reads: EventReads = {
    readLastPosition: (userId) => readLastPosition(database.pool, userId),
    readUserEvents: (userId, after, limit) => readUserEvents(database.pool, userId, after, limit),
    readTaskEvents: (userId, taskId, after, limit) =>
      readTaskEventsAfterPosition(database.pool, userId, taskId, after, limit),
  };
  const limits = { ...STREAM_LIMITS, ...deps.streamLimits };
  const hub = new EventHub({ reads, signals: deps.signals, logger, limits });
  app.addHook('preClose', async () => hub.close());

  addHealthRoutes(app, database, logger, deps.readSandboxState);
  const feed = addDoors(app, deps, reads);
  const endCredential = (credential: string) => {
    hub.endCredential(credential);
    feed.endCredential(credential);
  };
  addIdentityRoutes(app, {
    ...deps,
    hub: { endCredential },
    attemptsPerMinute: deps.attemptsPerMinute ?? 10,
  });
  addWebRoutes(app, runs, deps.startDemo);
  addEventRoutes(app, { hub, reads, runs });
  addSettingsRoutes(app, deps);
  addSecretRoutes(app, deps.secrets);
  addDeployKeyRoutes(app, { ...deps, scansPerMinute: deps.attemptsPerMinute ?? 10 });
  addSkillRoutes(app, new Skills(database));
  addModelRoutes(app, { ...deps, testsPerMinute: deps.attemptsPerMinute ?? 10 });
  addAuditRoutes(app, database);
  addCostRoutes(app, deps);
  addOutcomeRoutes(app, deps);
  addWebhookRoutes(app, deps);
  addMcpServerRoutes(app, deps.mcpServers);
  addPushRoutes(app, deps);
  addSandboxRoutes(app, {
    ...deps,
    readNetworkPolicy: async (userId) => (await runs.readSettings(userId)).network,
  });
}

/** Handed over before anything of people's API has looked at it: the host's API has its own token, limits and errors. */
function mountSandboxApi(app: WebApp, sandboxApi: HostApp): void {
  app.all(
    '/infrastructure/*',
    {
      schema: { hide: true },
      onRequest: async (request, reply) => {
        reply.hijack();
        sandboxApi.routing(request.raw, reply.raw);
      },
    },
    () => undefined,
  );
  app.addHook('onClose', () => sandboxApi.close());
}

/** One line a request, without its query, headers or body. */
function addRequestLog(app: WebApp, logger: Logger): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown route';
    const ms = Math.round(reply.elapsedTime);
    logger.debug({ method: request.method, route, status: reply.statusCode, ms }, 'answered');
  });
}

function tooManyAttempts(_request: FastifyRequest, context: { after: string }): AppError {
  return new AppError('request.too-many', 'Too many attempts from this address.', {
    status: 429,
    hint: `Try again in ${context.after}.`,
  });
}

/** Bytes that are no HTTP request; there is no request to answer, only a socket. */
function refuseGarbage(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy() as unknown as void;
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const { problem } = toProblem(
    new AppError('request.not-http', 'The request is not valid HTTP.', { status }),
    newId(),
  );
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
