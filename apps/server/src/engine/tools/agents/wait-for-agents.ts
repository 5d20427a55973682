import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { awaitAgents } from './await-agents.ts';

/** `wait_for_agents`: the results of the rounds whose calls were answered before all of them had ended. */
export const waitForAgents = defineTool({
  name: 'wait_for_agents',
  description:
    'Wait for the sub-Vittos whose results you have not had (else those of your last round) and get all their results. Only needed when deploy_agents gave an interim answer because the user wrote.',
  input: z.strictObject({}),
  domain: 'delegation',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'pure',
  timeoutMs: 30_000,
  run: async (_input, context) => {
    const all = await context.agents.list();
    const unread = context.agents.unread();
    const last = Math.max(...all.map((child) => child.round ?? 0));
    const ids = all
      .filter((child) => (unread.size > 0 ? unread.has(child.id) : child.round === last))
      .map((child) => child.id);
    if (ids.length === 0)
      return { status: 'error', text: 'This task has no sub-Vittos; deploy_agents makes some.' };
    return awaitAgents(ids, context);
  },
  resume: async (waitingFor, _since, context) => {
    if (waitingFor.kind !== 'children') return null;
    const outcome = await awaitAgents(waitingFor.childIds, context);
    return outcome.status === 'park' ? null : outcome;
  },
});
