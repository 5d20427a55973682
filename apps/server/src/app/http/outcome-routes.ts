import { giveVerdict, outcome, outcomeQuery, page } from '@vitto/contracts';
import { idParams, readCursor, toPage, viewerOf, writeCursor, type WebApp } from '../../channels/index.ts';
import { listOutcomes, type OutcomeFeedbackService } from '../../intelligence/index.ts';
import type { Database } from '../../kernel/database/database.ts';

/** What became of tasks, and the user's own word on it. */
export function addOutcomeRoutes(
  app: WebApp,
  deps: { database: Database; outcomes: OutcomeFeedbackService },
): void {
  const tags = ['outcomes'];

  app.get(
    '/api/outcomes',
    {
      schema: {
        tags,
        summary: 'What became of my tasks, newest end first; also of those whose conversation is deleted',
        querystring: outcomeQuery,
        response: { 200: page(outcome) },
      },
    },
    async (request) => {
      const { cursor, limit, taskId, parentTaskId } = request.query;
      const rows = await listOutcomes(deps.database.pool, viewerOf(request).userId, {
        taskId: taskId ?? null,
        parentTaskId: parentTaskId ?? null,
        before: readCursor(cursor),
        limit: limit + 1,
      });
      return toPage(rows, limit, (last) => writeCursor({ at: last.endedAt, id: last.taskId }));
    },
  );

  app.put(
    '/api/tasks/:id/verdict',
    {
      config: {
        audit: {
          action: 'task.judged',
          object: 'task',
          detail: (_, answer) => ({ success: answer['success'] === true }),
        },
      },
      schema: {
        tags,
        summary: 'Say whether a task that has ended did what was wanted; this word stands over all others',
        params: idParams,
        body: giveVerdict,
        response: { 200: outcome },
      },
    },
    (request) =>
      deps.outcomes.giveVerdict({
        userId: viewerOf(request).userId,
        taskId: request.params.id,
        success: request.body.success,
        source: 'user',
      }),
  );
}
