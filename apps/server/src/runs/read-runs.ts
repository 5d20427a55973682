/** What a person reads of runs: conversations, tasks, approvals, artifacts and events, each bound to its user. */
export { findApproval, listApprovals } from '../engine/journal/approval.store.ts';
export { findArtifact, readArtifact } from '../engine/journal/artifact.store.ts';
export {
  findConversation,
  insertConversation,
  listConversations,
  listMessages,
  updateConversation,
} from '../engine/journal/conversation.store.ts';
export {
  readConversationEvents,
  readLastPosition,
  readLiveDeltas,
  readTaskEventsAfterPosition,
  readUserEvents,
} from '../engine/journal/journal.store.ts';
export { findTask, listTasks, toTask } from '../engine/journal/task.store.ts';
