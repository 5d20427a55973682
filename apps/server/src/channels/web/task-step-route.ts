import { taskStepPage, taskStepQuery } from '@vitto/contracts';
import { notFound } from '../../kernel/app-error.ts';
import { findTask, readLastPosition, readTaskSteps, type RunDependencies } from '../../runs/index.ts';
import { idParams, viewerOf, type WebApp } from './web-app.ts';

export function addTaskStepRoute(app: WebApp, runs: RunDependencies): void {
  const sql = runs.database.pool;

  app.get(
    '/api/tasks/:id/steps',
    {
      schema: {
        tags: ['tasks'],
        summary: 'The timeline of a task: its events without the deltas, from either end',
        description:
          'Open `/api/tasks/{id}/events` with the `Last-Event-ID` of `lastPosition` to follow a task from here without a gap or a repeat.',
        params: idParams,
        querystring: taskStepQuery,
        response: { 200: taskStepPage },
      },
    },
    async (request) => {
      const { userId } = viewerOf(request);
      const { cursor, order, limit } = request.query;
      // Read first, and nothing beyond it is in the page: the page and the stream meet exactly.
      const lastPosition = await readLastPosition(sql, userId);
      const task = await findTask(sql, userId, request.params.id);
      if (task === null) throw notFound('task');
      const rows = await readTaskSteps(
        sql,
        { userId, taskId: task.id, lastPosition },
        { cursor: cursor ?? null, order, limit: limit + 1 },
      );
      const items = rows.slice(0, limit);
      const nextCursor = rows.length > limit ? (items.at(-1)?.seq ?? null) : null;
      return { items, nextCursor, lastSeq: task.seq, lastPosition };
    },
  );
}
