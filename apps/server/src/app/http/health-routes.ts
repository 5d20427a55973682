import { componentStatus, type ComponentStatus } from '@vitto/contracts';
import { z } from 'zod';
import type { WebApp } from '../../channels/index.ts';
import { describeError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import type { Logger } from '../../kernel/logger.ts';
import { checkDatabase } from './database-check.store.ts';

const health = z.object({
  status: z.literal('ok'),
  /** Whether VMs can be had; GET /api/system says more. */
  sandbox: componentStatus.shape.state.optional(),
});
const readiness = z.object({ status: z.enum(['ready', 'not-ready']), reason: z.string().optional() });

/** For supervisors: does the process live, and can it serve. */
export function addHealthRoutes(
  app: WebApp,
  database: Database,
  logger: Logger,
  readSandboxState?: () => Promise<ComponentStatus['state']>,
): void {
  const config = { access: 'open' } as const;
  app.get(
    '/healthz',
    {
      config,
      schema: { tags: ['health'], security: [], summary: 'The process lives', response: { 200: health } },
    },
    async () => ({
      status: 'ok' as const,
      ...(readSandboxState === undefined ? {} : { sandbox: await readSandboxState() }),
    }),
  );
  app.get(
    '/readyz',
    {
      config,
      schema: {
        tags: ['health'],
        security: [],
        summary: 'The process can serve: its database answers',
        response: { 200: readiness, 503: readiness },
      },
    },
    async (_request, reply) => {
      try {
        await checkDatabase(database);
        return { status: 'ready' as const };
      } catch (error) {
        logger.warn({ reason: describeError(error) }, 'not ready: the database does not answer');
        return reply.code(503).header('retry-after', '2').send({
          status: 'not-ready',
          reason: 'The database cannot be reached.',
        });
      }
    },
  );
}
