import type { TaskState } from '@vitto/contracts';
import type { RunDependencies } from '../../runs/index.ts';
import type { TaskFeed } from '../task-feed/task-feed.ts';
import { Answer } from './answer.ts';
import type { StartedChat } from './start-chat.ts';
import { describeWaiting } from './waiting-text.ts';

export interface FollowAnswer {
  runs: RunDependencies;
  feed: TaskFeed;
  publicUrl: string;
  userId: string;
  credential: string;
  started: StartedChat;
  isLive: boolean;
  signal: AbortSignal;
  /** Takes the next piece of the answer. */
  onText: (text: string) => Promise<void>;
}

/**
 * Follows a task until its answer is whole, or it waits for a person: then the answer ends with what it waits for.
 * @returns the answer, and in which state the task is.
 * @throws AppError what the task failed of; what the feed throws.
 */
export async function followAnswer(request: FollowAnswer): Promise<{ answer: Answer; state: TaskState }> {
  const { started, isLive, onText } = request;
  const answer = new Answer({ isLive, isJoining: started.isJoining });
  const events = request.feed.follow({ ...request, taskId: started.taskId, after: started.after });
  for await (const batch of events) {
    for (const event of batch) {
      const text = answer.apply(event);
      if (text !== '') await onText(text);
    }
    if (answer.end !== null) break;
  }
  const { end } = answer;
  if (end?.kind === 'failed') throw end.error;
  if (end?.kind !== 'waiting') return { answer, state: 'completed' };
  const { language } = await request.runs.readSettings(request.userId);
  const url = `${request.publicUrl}/vitto/t/${started.taskId}`;
  const text = describeWaiting(end, { approvals: answer.approvals, language, url });
  await onText(answer.hasText ? `\n\n${text}` : text);
  return { answer, state: end.state };
}
