import type { SystemStatus } from '@vitto/contracts';
import type { ToolPlugin } from '../tool.ts';
import { askUser } from './ask-user.ts';
import { createQuerySystemStatus } from './query-system-status.ts';
import { readArtifact } from './read-artifact.ts';
import { taskComplete } from './task-complete.ts';
import { whistleUser } from './whistle-user.ts';

/** The tools that every task has, whatever its tier. */
export function createCoreTools(readStatus: (userId: string) => Promise<SystemStatus>): ToolPlugin {
  return {
    name: 'core',
    tools: [taskComplete, askUser, readArtifact, whistleUser, createQuerySystemStatus(readStatus)],
  };
}
