import { approval, approvalQuery, decideApproval as decision, page } from '@vitto/contracts';
import { notFound } from '../../kernel/app-error.ts';
import { decideApproval, findApproval, listApprovals, type RunDependencies } from '../../runs/index.ts';
import { readCursor, toPage, writeCursor } from './page-cursor.ts';
import { idParams, viewerOf, type WebApp } from './web-app.ts';

export function addApprovalRoutes(app: WebApp, runs: RunDependencies): void {
  const sql = runs.database.pool;
  const tags = ['approvals'];

  app.get(
    '/api/approvals',
    {
      schema: {
        tags,
        summary: 'My approvals, newest first; `state=pending` for those that wait',
        querystring: approvalQuery,
        response: { 200: page(approval) },
      },
    },
    async (request) => {
      const { cursor, limit, state } = request.query;
      const { userId } = viewerOf(request);
      const rows = await listApprovals(sql, userId, state ?? null, readCursor(cursor), limit + 1);
      return toPage(rows, limit, (last) => writeCursor({ at: last.createdAt, id: last.id }));
    },
  );

  app.get(
    '/api/approvals/:id',
    { schema: { tags, summary: 'One approval', params: idParams, response: { 200: approval } } },
    async (request) => {
      const found = await findApproval(sql, viewerOf(request).userId, request.params.id);
      if (found === null) throw notFound('approval');
      return found;
    },
  );

  app.post(
    '/api/approvals/:id/decision',
    {
      config: {
        audit: {
          action: 'approval.decided',
          object: 'approval',
          detail: (_, answer) => ({
            decision: String(answer['state']),
            tool: String(answer['tool']),
            argumentsHash: String(answer['argumentsHash']),
          }),
        },
      },
      schema: {
        tags,
        summary: 'Approve or refuse, once',
        description: 'Of several decisions one wins; the others get 409 `approval.decided`, which names it.',
        params: idParams,
        body: decision,
        response: { 200: approval },
      },
    },
    (request) => {
      const { userId, source } = viewerOf(request);
      return decideApproval(runs, { ...request.body, userId, approvalId: request.params.id, by: source });
    },
  );
}
