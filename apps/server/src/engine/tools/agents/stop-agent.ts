import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { agentId, checkAgent } from './steer-agent.ts';

/** `stop_agent`: ends a sub-Vitto; the others of its round go on. */
export const stopAgent = defineTool({
  name: 'stop_agent',
  description: 'End a sub-Vitto at once. It appears as cancelled among the results; the others go on.',
  input: z.strictObject({ id: agentId, reason: z.string().trim().max(500).optional() }),
  domain: 'delegation',
  risk: 'write',
  tier: 'in-process',
  idempotency: 'idempotent',
  timeoutMs: 30_000,
  run: async ({ id, reason }, context) => {
    const problem = await checkAgent(id, context);
    if (problem !== null) return problem;
    await context.agents.stop(id, reason);
    return { status: 'ok', text: 'It was stopped.', data: { id } };
  },
});
