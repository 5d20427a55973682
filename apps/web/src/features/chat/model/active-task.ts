import { isEndState } from '@vitto/contracts';
import { isAtWork } from './agents-item.ts';
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
  | { kind: 'tools'; items: readonly ToolItem[] }
  | { kind: 'writing' }
  | { kind: 'thinking' };

export function describeActivity(view: ConversationView, task: TaskView): Activity {
  const { state } = task;
  const atWork = state === 'waiting_children' ? countAgentsAtWork(view, task.id) : 0;
  if (atWork > 0) return { kind: 'agents', count: atWork };
  if (state !== 'running') {
    return state === 'completed' || state === 'failed' || state === 'cancelled'
      ? { kind: 'thinking' }
      : { kind: 'state', state };
  }
  const { items, answer } = findLastTurn(view, task.id);
  if (items.length > 0) return { kind: 'tools', items };
  return answer?.state === 'streaming' && answer.text !== '' ? { kind: 'writing' } : { kind: 'thinking' };
}

function countAgentsAtWork({ items }: ConversationView, taskId: string): number {
  let count = 0;
  for (const item of items)
    if (item.kind === 'agents' && item.taskId === taskId) count += item.agents.filter(isAtWork).length;
  return count;
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
