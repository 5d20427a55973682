import { isEndState } from '@vitto/contracts';
import { isAtWork, isForUser, type AgentView } from './agents-item.ts';
import type { AnswerItem, ConversationView, Item, TaskView, ToolItem } from './view.ts';

/** The conversation's own task that has not ended, when there is one. */
export function findActiveTask(view: ConversationView): TaskView | null {
  let active: TaskView | null = null;
  for (const task of view.tasks.values()) if (task.depth === 0 && !isEndState(task.state)) active = task;
  return active;
}

/** What a task does right now. */
export type Activity =
  | { kind: 'state'; state: 'queued' | 'waiting_approval' | 'waiting_input' | 'waiting_children' }
  /** So many sub-Vittos are at work while it waits for them. */
  | { kind: 'agents'; count: number }
  /** All that could be at work wait for the user, so many. */
  | { kind: 'agents-ask'; count: number }
  | { kind: 'tools'; items: readonly ToolItem[] }
  | { kind: 'writing' }
  | { kind: 'thinking' };

export function describeActivity(view: ConversationView, task: TaskView): Activity {
  const { state } = task;
  const atWork = state === 'waiting_children' ? listAgentsAtWork(view, task.id) : [];
  if (atWork.length > 0)
    return { kind: atWork.every(isForUser) ? 'agents-ask' : 'agents', count: atWork.length };
  if (state !== 'running') {
    return state === 'completed' || state === 'failed' || state === 'cancelled'
      ? { kind: 'thinking' }
      : { kind: 'state', state };
  }
  const { items, answer } = findLastTurn(view, task.id);
  if (items.length > 0) return { kind: 'tools', items };
  return answer?.state === 'streaming' && answer.text !== '' ? { kind: 'writing' } : { kind: 'thinking' };
}

function listAgentsAtWork({ items }: ConversationView, taskId: string): AgentView[] {
  return items.flatMap((item) =>
    item.kind === 'agents' && item.taskId === taskId ? item.agents.filter(isAtWork) : [],
  );
}

/** The newest answer of a task, and the calls after it that run, first ones first. */
function findLastTurn(
  view: ConversationView,
  taskId: string,
): { items: ToolItem[]; answer: AnswerItem | null } {
  const items: ToolItem[] = [];
  for (let at = view.items.length - 1; at >= 0; at -= 1) {
    const item = view.items[at] as Item;
    if (item.taskId !== taskId) continue;
    if (item.kind === 'tool' && item.state === 'running') items.unshift(item);
    if (item.kind === 'answer') return { items, answer: item };
  }
  return { items, answer: null };
}
