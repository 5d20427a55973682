import type { TaskState } from '@vitto/contracts';
import type { DoorDependencies } from '../door-dependencies.ts';
import type { Viewer } from '../web/web-app.ts';
import type { CompletionHead, VittoField } from './chat-format.ts';
import type { ChatRequest } from './chat-request.ts';
import type { StartedChat } from './start-chat.ts';

/** Everything that answering one request takes. */
export interface ChatTurn {
  deps: DoorDependencies;
  viewer: Viewer;
  body: ChatRequest;
  started: StartedChat;
  head: CompletionHead;
  /** Aborts with `ClientGone`. */
  signal: AbortSignal;
}

export function toVittoField({ started }: ChatTurn, state: TaskState): VittoField {
  return { task_id: started.taskId, conversation_id: started.conversationId, state };
}
