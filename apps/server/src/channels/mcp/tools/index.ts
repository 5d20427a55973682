import type { McpTool } from '../mcp-tool.ts';
import { cancelTask } from './cancel-task.ts';
import { decideApproval } from './decide-approval.ts';
import { getTask } from './get-task.ts';
import { listApprovals } from './list-approvals.ts';
import { listTasks } from './list-tasks.ts';
import { sendMessage } from './send-message.ts';
import { startTask } from './start-task.ts';

/** Everything that the MCP server offers. */
export const MCP_TOOLS: readonly McpTool[] = [
  startTask,
  getTask,
  listTasks,
  sendMessage,
  cancelTask,
  listApprovals,
  decideApproval,
];
