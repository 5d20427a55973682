import { failure, spending, taskState, type Task } from '@vitto/contracts';
import { z } from 'zod';

const waiting = z.object({
  kind: z.enum(['approval', 'answer', 'children']),
  /** Approvals to decide, for `list_approvals` and `decide_approval`. */
  approval_ids: z.array(z.string()).optional(),
  /** What Vitto asks; answer with `send_message`. */
  question: z.string().optional(),
  choices: z.array(z.string()).optional(),
});

/** A task as the tools give it. */
export const taskView = z.object({
  task_id: z.string(),
  conversation_id: z.string().nullable(),
  title: z.string(),
  state: taskState,
  waiting_for: waiting.nullable(),
  /** The report of a task that has ended. */
  result: z.string().nullable(),
  error: failure.nullable(),
  spending,
  created_at: z.string(),
  ended_at: z.string().nullable(),
  /** Where people look at it. */
  url: z.string(),
});
export type TaskView = z.input<typeof taskView>;

export function toTaskView(task: Task, publicUrl: string): TaskView {
  return {
    task_id: task.id,
    conversation_id: task.conversationId,
    title: task.title,
    state: task.state,
    waiting_for: toWaiting(task.waitingFor),
    result: task.result,
    error: task.error,
    spending: task.spending,
    created_at: task.createdAt,
    ended_at: task.endedAt,
    url: `${publicUrl}/vitto/t/${task.id}`,
  };
}

function toWaiting(waitingFor: Task['waitingFor']): z.input<typeof waiting> | null {
  switch (waitingFor?.kind) {
    case 'approval':
      return { kind: 'approval', approval_ids: waitingFor.approvalIds };
    case 'input': {
      const { question, choices } = waitingFor;
      return { kind: 'answer', question, ...(choices === undefined ? {} : { choices }) };
    }
    case 'children':
      return { kind: 'children' };
    case undefined:
      return null;
  }
}

/** A task in words: all that its view says to a model. */
export function describeTask(task: TaskView): string {
  const lines = [`Task ${task.task_id} “${task.title}”: ${task.state}.`];
  const { waiting_for: waitingFor } = task;
  if (waitingFor?.kind === 'approval') {
    const ids = waitingFor.approval_ids?.join(', ') ?? '';
    lines.push(`It waits for a decision on: ${ids}. See list_approvals, or ${task.url}`);
  }
  if (waitingFor?.kind === 'answer') {
    lines.push(`It asks: ${waitingFor.question ?? ''}`);
    if (waitingFor.choices !== undefined) lines.push(`Choices: ${waitingFor.choices.join(' | ')}`);
    lines.push('Answer with send_message.');
  }
  if (task.error !== null) lines.push(`It failed: ${task.error.message} ${task.error.hint ?? ''}`.trim());
  if (task.result !== null) lines.push('Result:', task.result);
  return lines.join('\n');
}
