import { z } from 'zod';
import { cancelRun } from '../../../runs/index.ts';
import { defineMcpTool } from '../mcp-tool.ts';
import { describeTask, taskView, toTaskView } from '../task-view.ts';

export const cancelTask = defineMcpTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description: 'Stop a task and its helpers at once. A task that has ended stays as it is.',
  scope: 'run',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    task_id: z.uuid(),
    reason: z.string().max(500).optional().describe('Shown with the task.'),
  }),
  output: z.object({ task: taskView }),
  run: async (input, call) => {
    const { userId, source } = call.viewer;
    const { task_id: taskId, reason } = input;
    const task = await cancelRun(call.deps.runs, { userId, taskId, by: source, reason });
    await call.recordAudit({ action: 'task.cancelled', object: 'task', objectId: taskId });
    const view = toTaskView(task, call.deps.publicUrl);
    return { text: describeTask(view), data: { task: view } };
  },
});
