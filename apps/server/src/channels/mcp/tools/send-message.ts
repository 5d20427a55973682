import { MESSAGE_MAX_LENGTH, sentMessage } from '@vitto/contracts';
import { z } from 'zod';
import { steerRun } from '../../../runs/index.ts';
import { defineMcpTool } from '../mcp-tool.ts';

export const sendMessage = defineMcpTool({
  name: 'send_message',
  title: 'Write to a task',
  description:
    'Write to a task that has not ended, as the user: it reads it at its next step, or takes it as the answer to what it asks. A task that waits for an approval drops what it asked for and reads your message instead.',
  scope: 'run',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: z.strictObject({ task_id: z.uuid(), text: z.string().min(1).max(MESSAGE_MAX_LENGTH) }),
  output: z.object({ task_id: z.string(), message_id: z.string(), outcome: sentMessage.shape.outcome }),
  run: async (input, call) => {
    const { userId, source } = call.viewer;
    const { task_id: taskId, text } = input;
    const sent = await steerRun(call.deps.runs, { userId, source, taskId, text });
    return {
      text: sent.outcome === 'answered' ? 'The question is answered.' : 'The task reads it at its next step.',
      data: { task_id: sent.taskId, message_id: sent.messageId, outcome: sent.outcome },
    };
  },
});
