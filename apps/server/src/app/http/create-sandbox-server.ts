import fastify, { LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import { newId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import { routeUpgrades } from '../../kernel/network/http-upgrade.ts';
import { addHostApi, API_ROOT, CALL_LIMIT, type HostApp, type SandboxHost } from '../../sandbox/index.ts';
import { addHealthRoutes } from './health-routes.ts';
import { addJsonBodies, refuseEncodedBody } from './json-body.ts';
import { toProblem } from './problem.ts';
import { RefusalLimit } from './refusal-limit.ts';

export interface SandboxServerDependencies {
  host: SandboxHost;
  token: string;
  database: Database;
  logger: Logger;
}

/**
 * The HTTP server of a sandbox host: its API for servers and workers, and the two routes of supervisors. It does not
 * listen yet. Bodies reach the guest byte for byte; nothing of people's API is in it.
 */
export async function createSandboxServer(deps: SandboxServerDependencies): Promise<HostApp> {
  const app = fastify({
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: CALL_LIMIT,
    exposeHeadRoutes: false,
    // A request that is not whole by then is cut; answers may take as long as their command.
    requestTimeout: 60_000,
    forceCloseConnections: true,
    genReqId: newId,
  }) as unknown as HostApp;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  addJsonBodies(app);
  const refusals = new RefusalLimit();
  const describe = (error: unknown, request: { id: string; routeOptions: { bodyLimit?: number } }) => {
    const answer = toProblem(error, request.id, request.routeOptions.bodyLimit);
    if (answer.isDefect)
      deps.logger.error({ err: error, reference: request.id }, 'a call of a server failed');
    return answer;
  };
  app.setErrorHandler((error, request, reply) => {
    const { problem, headers } = describe(error, request);
    const answer = reply.code(problem.status).headers(headers);
    return answer.header('content-type', 'application/problem+json').send(JSON.stringify(problem));
  });
  app.setNotFoundHandler(() => {
    throw new AppError('request.no-such-route', 'There is nothing at this address.', {
      status: 404,
      hint: `This is a sandbox host of Vitto; its API is below ${API_ROOT}.`,
    });
  });
  app.addHook('onRequest', async (request) => refuseEncodedBody(request));
  const readState = async () => ((await deps.host.info()).reason === null ? 'ok' : 'missing');
  addHealthRoutes(app, deps.database, deps.logger, readState);
  addHostApi(app, {
    host: deps.host,
    token: deps.token,
    noteRefusal: (address) => refusals.take(address),
    describeError: (error, request) => describe(error, request).problem,
  });
  await app.ready();
  routeUpgrades(app.server, (request, response) => app.routing(request, response));
  return app;
}
