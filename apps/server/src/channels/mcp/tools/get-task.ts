import { z } from 'zod';
import { readLastPosition, readTaskSteps } from '../../../runs/index.ts';
import { defineMcpTool, UNTRUSTED, type McpCall } from '../mcp-tool.ts';
import { describeStep } from '../step-words.ts';
import { describeTask, taskView, toTaskView } from '../task-view.ts';
import { MAX_WAIT_SECONDS, waitForTask } from '../wait-for-task.ts';

/** Events whose steps are told in one answer. */
const STEP_ROWS = 100;

const step = z.object({ at: z.string(), text: z.string() });

export const getTask = defineMcpTool({
  name: 'get_task',
  title: 'Look at a task',
  description: `How a task is: its state, what it waits for, its result, and the steps since you last looked. With wait_seconds the answer comes when the task has ended or waits for somebody, or after that time; with a progress token each step is reported meanwhile. ${UNTRUSTED}`,
  scope: 'read',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    task_id: z.uuid(),
    wait_seconds: z.number().int().min(0).max(MAX_WAIT_SECONDS).default(0),
    after: z
      .number()
      .int()
      .nonnegative()
      .max(2_147_483_647)
      .default(0)
      .describe('Only steps after this one: the `next_after` of the last answer. 0: from the beginning.'),
  }),
  output: z.object({
    task: taskView,
    steps: z.array(step),
    next_after: z.number().int(),
    has_more: z.boolean().describe('There are more steps already: call again with next_after.'),
  }),
  run: async (input, call) => {
    const task = await waitForTask(call, input.task_id, input.wait_seconds);
    const view = toTaskView(task, call.deps.publicUrl);
    const page = await readSteps(call, task.id, input.after);
    const words = page.steps.map((one) => `- ${one.text}`);
    const more = page.has_more ? [`There are more steps: call again with after=${page.next_after}.`] : [];
    const steps = words.length === 0 ? [] : ['Steps:', ...words, ...more];
    return {
      text: [describeTask(view), ...steps, `next_after: ${page.next_after}`].join('\n'),
      data: { task: view, ...page },
    };
  },
});

async function readSteps({ deps, viewer }: McpCall, taskId: string, after: number) {
  const sql = deps.runs.database.pool;
  const { userId } = viewer;
  const lastPosition = await readLastPosition(sql, userId);
  const rows = await readTaskSteps(
    sql,
    { userId, taskId, lastPosition },
    { cursor: after, order: 'asc', limit: STEP_ROWS + 1 },
  );
  const events = rows.slice(0, STEP_ROWS);
  const steps = events.flatMap((event) => {
    const text = describeStep(event);
    return text === null ? [] : [{ at: event.at, text }];
  });
  return { steps, next_after: events.at(-1)?.seq ?? after, has_more: rows.length > STEP_ROWS };
}
