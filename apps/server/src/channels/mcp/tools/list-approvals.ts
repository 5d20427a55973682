import { approvalState, pageQuery } from '@vitto/contracts';
import { z } from 'zod';
import { listApprovals as readApprovals } from '../../../runs/index.ts';
import { readCursor, toPage, writeCursor } from '../../web/page-cursor.ts';
import { approvalView, describeApproval, toApprovalView } from '../approval-view.ts';
import { defineMcpTool, UNTRUSTED } from '../mcp-tool.ts';

export const listApprovals = defineMcpTool({
  name: 'list_approvals',
  title: 'List approvals',
  description: `What Vitto wants to do and asks the user for first, with the exact arguments. ${UNTRUSTED}`,
  scope: 'read',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    state: approvalState.default('pending'),
    limit: z.number().int().min(1).max(50).default(20),
    cursor: pageQuery.shape.cursor.describe('The `next_cursor` of the page before.'),
  }),
  output: z.object({ approvals: z.array(approvalView), next_cursor: z.string().nullable() }),
  run: async ({ state, limit, cursor }, { deps, viewer }) => {
    const sql = deps.runs.database.pool;
    const rows = await readApprovals(sql, viewer.userId, state, readCursor(cursor), limit + 1);
    const { items, nextCursor } = toPage(rows, limit, (last) =>
      writeCursor({ at: last.createdAt, id: last.id }),
    );
    const approvals = items.map(toApprovalView);
    const text =
      approvals.length === 0 ? `No approval is ${state}.` : approvals.map(describeApproval).join('\n\n');
    const more = nextCursor === null ? '' : `\n\nnext_cursor: ${nextCursor}`;
    return { text: `${text}${more}`, data: { approvals, next_cursor: nextCursor } };
  },
});
