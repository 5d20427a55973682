export { cancelRun } from './cancel-run.ts';
export { chooseBudget } from './choose-budget.ts';
export { decideApproval } from './decide-approval.ts';
export * from './read-runs.ts';
export { removeConversation } from './remove-conversation.ts';
export type { RunDependencies } from './run-dependencies.ts';
export { createRun, sendMessage } from './start-run.ts';
export { steerRun } from './steer-run.ts';
