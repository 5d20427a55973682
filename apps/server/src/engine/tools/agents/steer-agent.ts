import { isEndState } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool, type ToolContext, type ToolResult } from '../tool.ts';
import { describeStanding } from '../../orchestrator/describe-results.ts';

/** Its id as `deploy_agents` gave it. */
export const agentId = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .describe('The id of the sub-Vitto, as the results give it.');

/** `steer_agent`: a message that a sub-Vitto reads at its next step. */
export const steerAgent = defineTool({
  name: 'steer_agent',
  description: 'Tell a sub-Vitto that still works something; it reads it at its next step.',
  input: z.strictObject({ id: agentId, message: z.string().trim().min(1).max(10_000) }),
  domain: 'delegation',
  risk: 'write',
  tier: 'in-process',
  // A second message is one too many: its process may have died after it was sent.
  idempotency: 'once',
  timeoutMs: 15_000,
  run: async ({ id, message }, context) => {
    const problem = await checkAgent(id, context);
    if (problem !== null) return problem;
    await context.agents.steer(id, message);
    return { status: 'ok', text: 'It reads this at its next step.', data: { id } };
  },
});

/** What is wrong with an id: only sub-Vittos of this very task that have not ended can be minded. */
export async function checkAgent(id: string, context: ToolContext): Promise<ToolResult | null> {
  const all = await context.agents.list();
  const found = all.find((child) => child.id === id);
  if (found !== undefined && !isEndState(found.state)) return null;
  const open = all.filter((child) => !isEndState(child.state));
  const which = open.length === 0 ? 'None of yours works now.' : `At work are:\n${describeStanding(open)}`;
  const why =
    found === undefined ? `This task has no sub-Vitto "${id}".` : `It has ended already (${found.state}).`;
  return { status: 'error', text: `${why} ${which}` };
}
