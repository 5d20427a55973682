/** The front door of the engine. */
export * from './budget/plan-budget.ts';
export * from './journal/approval.store.ts';
export * from './journal/artifact.store.ts';
export * from './journal/conversation.store.ts';
export * from './journal/journal.store.ts';
export * from './journal/lease.store.ts';
export { PgTaskJournal, type JournalOptions } from './journal/pg-task-journal.ts';
export * from './journal/task.store.ts';
export type { DecideCall, EvaluateGate } from './loop/hooks.ts';
export type { ClaimedGuest, Run, RunEnd } from './loop/run-context.ts';
export { runLoop } from './loop/run-loop.ts';
export { RunState } from './loop/run-state.ts';
export { buildSystemPrompt, type PromptFacts } from './loop/system-prompt.ts';
export { Transcript } from './loop/transcript.ts';
export * from './models/index.ts';
export { createCoreTools } from './tools/core/index.ts';
export { guestTools } from './tools/guest/index.ts';
export { ToolRegistry } from './tools/registry.ts';
export { defineTool, type Tool, type ToolContext, type ToolPlugin, type ToolResult } from './tools/tool.ts';
export { findApproval, listApprovals } from './journal/approval.store.ts';
export { findArtifact, readArtifact } from './journal/artifact.store.ts';
export {
  deleteConversation,
  findConversation,
  insertConversation,
  listConversations,
  listMessages,
  updateConversation,
} from './journal/conversation.store.ts';
export {
  readConversationEvents,
  readLastPosition,
  readLiveDeltas,
  readTaskEventsAfterPosition,
  readUserEvents,
} from './journal/journal.store.ts';
export { findTask, listTasks, toTask } from './journal/task.store.ts';
