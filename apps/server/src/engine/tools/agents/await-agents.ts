import { isEndState, type WaitingFor } from '@vitto/contracts';
import { describeResults, describeStanding } from '../../orchestrator/describe-results.ts';
import type { ToolContext, ToolResult } from '../tool.ts';

/**
 * What a call that waits for sub-Vittos comes to now: all their results when all have ended; how they stand when the
 * user has written meanwhile, which the model must read first; else the task parks.
 */
export async function awaitAgents(
  ids: readonly string[],
  context: ToolContext,
): Promise<ToolResult | { status: 'park'; waitingFor: WaitingFor }> {
  const all = await context.agents.list();
  const awaited = all.filter((child) => ids.includes(child.id));
  if (awaited.every((child) => isEndState(child.state))) {
    return describeResults(awaited, context.artifacts);
  }
  if (context.agents.hasUnread()) {
    const text = `The user has written before all have ended; read it, then decide. They go on meanwhile:\n${describeStanding(awaited)}\n\nsteer_agent tells one something, stop_agent ends one, wait_for_agents waits for the results of all.`;
    return { status: 'ok', text, data: { isInterim: true } };
  }
  const waitingFor = {
    kind: 'children' as const,
    callId: context.callId,
    childIds: awaited.map((child) => child.id),
  };
  return { status: 'park', waitingFor };
}
