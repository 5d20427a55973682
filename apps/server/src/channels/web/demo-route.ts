import { task } from '@vitto/contracts';
import { z } from 'zod';
import { findTask, toTask, type RunDependencies } from '../../runs/index.ts';
import { notFound } from '../../kernel/app-error.ts';
import { viewerOf, type WebApp } from './web-app.ts';

/** Starts the demo as a task of this person and gives its id. */
export type StartDemo = (by: { userId: string; source: string }) => Promise<string>;

/** The demo for people who have no model yet: played by a script, with real commands. */
export function addDemoRoute(app: WebApp, runs: RunDependencies, startDemo: StartDemo): void {
  app.post(
    '/api/demo',
    {
      config: { audit: { action: 'task.started', object: 'task', detail: () => ({ isDemo: true }) } },
      schema: {
        tags: ['tasks'],
        summary: 'Start the demo: a scripted model mends a real public project by real commands',
        body: z.strictObject({}).nullish(),
        response: { 201: task },
      },
    },
    async (request, reply) => {
      const { userId, source } = viewerOf(request);
      const started = await findTask(runs.database.pool, userId, await startDemo({ userId, source }));
      if (started === null) throw notFound('task');
      return reply.code(201).send(toTask(started));
    },
  );
}
