import { pageQuery, taskState } from '@vitto/contracts';
import { z } from 'zod';
import { listTasks as readTasks, toTask } from '../../../runs/index.ts';
import { readCursor, toPage, writeCursor } from '../../web/page-cursor.ts';
import { toStates } from '../../web/task-routes.ts';
import { defineMcpTool, UNTRUSTED } from '../mcp-tool.ts';
import { taskView, toTaskView } from '../task-view.ts';

export const listTasks = defineMcpTool({
  name: 'list_tasks',
  title: 'List tasks',
  description: `The user's tasks, newest first, whoever started them. ${UNTRUSTED}`,
  scope: 'read',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    state: z
      .union([taskState, z.literal('active')])
      .optional()
      .describe('Only tasks in this state; `active`: those that have not ended.'),
    limit: z.number().int().min(1).max(100).default(20),
    cursor: pageQuery.shape.cursor.describe('The `next_cursor` of the page before.'),
  }),
  output: z.object({
    tasks: z.array(taskView.omit({ result: true })),
    next_cursor: z.string().nullable(),
  }),
  run: async ({ state, limit, cursor }, { deps, viewer }) => {
    const rows = await readTasks(deps.runs.database.pool, viewer.userId, {
      states: toStates(state),
      conversationId: null,
      before: readCursor(cursor),
      limit: limit + 1,
    });
    const { items, nextCursor } = toPage(rows.map(toTask), limit, (last) =>
      writeCursor({ at: last.createdAt, id: last.id }),
    );
    const tasks = items.map((task) => {
      const { result: _, ...view } = toTaskView(task, deps.publicUrl);
      return view;
    });
    const lines = tasks.map((task) => `- ${task.task_id} ${task.state} (${task.created_at}): ${task.title}`);
    const more = nextCursor === null ? [] : [`next_cursor: ${nextCursor}`];
    const text = [lines.length === 0 ? 'There are no such tasks.' : lines.join('\n'), ...more].join('\n');
    return { text, data: { tasks, next_cursor: nextCursor } };
  },
});
