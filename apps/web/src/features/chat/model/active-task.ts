import { isEndState } from '@vitto/contracts';
import type { ConversationView, Item, TaskView, ToolItem } from './view.ts';

/** The conversation's own task that has not ended, when there is one. */
export function findActiveTask(view: ConversationView): TaskView | null {
  let active: TaskView | null = null;
  for (const task of view.tasks.values()) if (task.depth === 0 && !isEndState(task.state)) active = task;
  return active;
}

/** What a task does right now. */
export type Activity =
  | { kind: 'state'; state: 'queued' | 'waiting_approval' | 'waiting_input' | 'waiting_children' }
  | { kind: 'tool'; item: ToolItem }
  | { kind: 'writing' }
  | { kind: 'thinking' };

export function describeActivity(view: ConversationView, task: TaskView): Activity {
  const { state } = task;
  if (state !== 'running') {
    return state === 'completed' || state === 'failed' || state === 'cancelled'
      ? { kind: 'thinking' }
      : { kind: 'state', state };
  }
  for (let at = view.items.length - 1; at >= 0; at -= 1) {
    const item = view.items[at] as Item;
    if (item.taskId !== task.id) continue;
    if (item.kind === 'tool' && item.state === 'running') return { kind: 'tool', item };
    if (item.kind === 'answer') {
      return item.state === 'streaming' && item.text !== '' ? { kind: 'writing' } : { kind: 'thinking' };
    }
  }
  return { kind: 'thinking' };
}
