import type { ToolPlugin } from '../tool.ts';
import { createDeployAgents } from './deploy-agents.ts';
import { steerAgent } from './steer-agent.ts';
import { stopAgent } from './stop-agent.ts';
import { waitForAgents } from './wait-for-agents.ts';

/** The tools with which a task deploys others and minds them. */
export function createAgentTools(limits: { maxRounds: number; maxParallel: number }): ToolPlugin {
  return { name: 'agents', tools: [createDeployAgents(limits), waitForAgents, steerAgent, stopAgent] };
}
