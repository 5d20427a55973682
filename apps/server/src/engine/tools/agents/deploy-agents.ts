import { deployAgents } from '@vitto/contracts';
import { defineTool, type Tool } from '../tool.ts';
import { awaitAgents } from './await-agents.ts';

/** `deploy_agents`: parallel copies of Vitto, each with a task and a journal of its own (specification 03). */
export function createDeployAgents(limits: { maxRounds: number; maxParallel: number }): Tool {
  return defineTool({
    name: 'deploy_agents',
    description:
      'Deploy copies of yourself that work side by side, each on one task, and get all their results in the order of the list. ' +
      'Worth it when a task falls into parts that do not need each other, or that would fill your context. ' +
      'Each sees only its description, never this conversation. Their budget is part of yours. ' +
      'In a machine all of them share the files of yours: name results that are files by their path. ' +
      `At most ${limits.maxParallel} work at once, the others follow; at most ${limits.maxRounds} calls a task.`,
    input: deployAgents,
    domain: 'delegation',
    risk: 'write',
    tier: 'in-process',
    // The journal says which round this call has deployed: again it only waits for it.
    idempotency: 'idempotent',
    timeoutMs: 60_000,
    run: async (input, context) => {
      const before = context.agents.roundOf();
      if (before !== null) return awaitAgents(before, context);
      const deployed = await context.agents.deploy(input);
      if ('refusal' in deployed) return { status: 'error', text: `Not deployed: ${deployed.refusal}` };
      return awaitAgents(deployed.ids, context);
    },
    resume: async (waitingFor, _since, context) => {
      if (waitingFor.kind !== 'children') return null;
      const outcome = await awaitAgents(waitingFor.childIds, context);
      return outcome.status === 'park' ? null : outcome;
    },
  });
}
