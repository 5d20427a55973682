import { budgetOverride, MESSAGE_MAX_LENGTH } from '@vitto/contracts';
import { z } from 'zod';
import { createRun } from '../../../runs/index.ts';
import { defineMcpTool, UNTRUSTED } from '../mcp-tool.ts';
import { describeTask, taskView, toTaskView } from '../task-view.ts';
import { MAX_WAIT_SECONDS, waitForTask } from '../wait-for-task.ts';

export const startTask = defineMcpTool({
  name: 'start_task',
  title: 'Start a task',
  description: `Give Vitto a task in a conversation of its own. It works with its own tools (commands in a sandbox, files, the web) and may stop to ask for an approval or an answer. Answers at once, or when the task has stopped if you wait; follow it with get_task. ${UNTRUSTED}`,
  scope: 'run',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: z.strictObject({
    prompt: z
      .string()
      .min(1)
      .max(MESSAGE_MAX_LENGTH)
      .describe('What is to be done, with all that has to be known.'),
    title: z.string().min(1).max(200).optional().describe('A short name for it.'),
    budget: budgetOverride.optional().describe('What it may spend at most; never more than Vitto allows.'),
    wait_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .default(0)
      .describe('How long to wait for its end.'),
  }),
  output: z.object({ task: taskView }),
  run: async (input, call) => {
    const { userId, source } = call.viewer;
    const started = await createRun(call.deps.runs, {
      userId,
      source,
      text: input.prompt,
      title: input.title,
      budget: input.budget as Parameters<typeof createRun>[1]['budget'],
    });
    await call.recordAudit({ action: 'task.started', object: 'task', objectId: started.taskId });
    const task = await waitForTask(call, started.taskId, input.wait_seconds);
    const view = toTaskView(task, call.deps.publicUrl);
    return { text: describeTask(view), data: { task: view } };
  },
});
