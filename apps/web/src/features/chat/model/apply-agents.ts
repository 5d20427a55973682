import type { KnownEvent, TaskState } from '@vitto/contracts';
import { hasEnded, newAgent, type AgentsItem, type AgentState, type AgentView } from './agents-item.ts';
import { callKey } from './tool-item.ts';
import { placeOf } from './view.ts';
import type { ViewDraft } from './view-draft.ts';

type RoundEvent = Extract<KnownEvent, { type: 'orchestrator.round' }>;
export type AgentEvent = Extract<
  KnownEvent,
  {
    type:
      | 'subvitto.spawned'
      | 'subvitto.vm_acquired'
      | 'subvitto.vm_degraded'
      | 'subvitto.progress'
      | 'subvitto.completed'
      | 'subvitto.failed';
  }
>;

const STATES: Record<TaskState, AgentState | null> = {
  queued: 'waiting',
  running: 'running',
  waiting_approval: 'asking',
  waiting_input: 'question',
  waiting_children: 'deploying',
  // The event of the end says how.
  completed: null,
  failed: null,
  cancelled: null,
};

/** A round begins: its group takes the place of the card of its call. */
export function applyRound(draft: ViewDraft, event: RoundEvent): void {
  const { roundNumber, subTaskIds, synthesis, callId, maxRounds } = event.payload;
  const key = callKey(event.taskId, callId ?? `round:${roundNumber}`);
  draft.put({
    ...newGroup(draft.find('tool', key) ?? event, key),
    round: roundNumber,
    maxRounds: maxRounds ?? null,
    synthesis: synthesis?.trim() || null,
    startedAt: event.at,
    agents: subTaskIds.map(newAgent),
  });
  for (const id of subTaskIds) draft.addName(agentName(id), key);
}

/** What a parent's journal tells of one of its sub-Vittos. */
export function applyAgent(draft: ViewDraft, event: AgentEvent): void {
  const group = draft.find('agents', agentName(event.payload.id)) ?? findPartial(draft, event);
  const at = group.agents.findIndex(({ id }) => id === event.payload.id);
  const before = group.agents[at];
  const after = change(before ?? newAgent(event.payload.id), event);
  if (after === before) return;
  const agents = before === undefined ? [...group.agents, after] : group.agents.with(at, after);
  const isLast = group.stage === 'running' && group.round !== null && agents.every(hasEnded);
  draft.put({ ...group, agents, ...(isLast ? { stage: 'synthesizing', endedAt: event.at } : {}) });
}

/** The parent has made a turn: those that had ended before it are in it. */
export function endSynthesis(draft: ViewDraft, taskId: string): void {
  draft.changeOfTask('agents', taskId, (group) =>
    group.stage !== 'done' && group.agents.every(hasEnded) ? { stage: 'done' } : null,
  );
}

/** With the parent nobody of its group goes on; those that say how they ended after it are right. */
export function endGroups(draft: ViewDraft, taskId: string, at: string): void {
  draft.changeOfTask('agents', taskId, (group) => {
    if (group.stage === 'done') return null;
    const agents = group.agents.map((agent): AgentView =>
      hasEnded(agent) ? agent : { ...agent, state: 'cancelled', tool: null },
    );
    return { stage: 'done', agents, endedAt: group.endedAt ?? at };
  });
}

/**
 * The call of a round has its result, which says what its group shows.
 * @returns false when nothing is here of its sub-Vittos: then its card is all there is.
 */
export function endCallOfGroup(
  draft: ViewDraft,
  event: Extract<KnownEvent, { type: 'tool.called' }>,
): boolean {
  const { callId, tool, status, text, artifacts = [], untrusted = null } = event.payload;
  if (tool !== 'deploy_agents') return false;
  const group =
    draft.find('agents', callKey(event.taskId, callId)) ?? draft.find('agents', partialName(event.taskId));
  if (group === null) return false;
  const isTrouble = status !== 'ok' && status !== 'cancelled';
  draft.put({ ...group, trouble: isTrouble ? text : null, artifacts, untrusted });
  return true;
}

function agentName(id: string): string {
  return `agent:${id}`;
}

function partialName(taskId: string): string {
  return `agents:${taskId}`;
}

function newGroup(first: Parameters<typeof placeOf>[0], key: string): AgentsItem {
  return {
    kind: 'agents',
    key,
    ...placeOf(first),
    round: null,
    maxRounds: null,
    synthesis: null,
    startedAt: null,
    endedAt: null,
    stage: 'running',
    trouble: null,
    artifacts: [],
    untrusted: null,
    agents: [],
  };
}

/** Its round is on an older page: those of its task that are seen here are together until that page is. */
function findPartial(draft: ViewDraft, event: AgentEvent): AgentsItem {
  const open = draft.find('agents', partialName(event.taskId));
  const group = open?.stage === 'running' ? open : newGroup(event, `agents:${event.position}`);
  draft.put(group);
  draft.addName(partialName(event.taskId), group.key);
  draft.addName(agentName(event.payload.id), group.key);
  return group;
}

function change(agent: AgentView, event: AgentEvent): AgentView {
  switch (event.type) {
    case 'subvitto.spawned': {
      const { role, tier, title, description, dependsOn, withheld } = event.payload;
      return {
        ...agent,
        role,
        tier,
        title: (title ?? description).trim().split('\n', 1)[0] ?? '',
        dependsOn: dependsOn ?? [],
        withheld: withheld ?? [],
      };
    }
    case 'subvitto.vm_acquired': {
      const { restored, acquireTimeMs, from } = event.payload;
      return { ...agent, vm: { restored, acquireTimeMs, ...(from === undefined ? {} : { from }) } };
    }
    case 'subvitto.vm_degraded': {
      const { reason, fallbackTier } = event.payload;
      return { ...agent, degraded: { reason, fallbackTier } };
    }
    case 'subvitto.progress':
      return hasEnded(agent) ? agent : progress(agent, event);
    case 'subvitto.completed': {
      const { success, duration, result } = event.payload;
      const state = success ? 'done' : 'unsuccessful';
      return { ...agent, state, tool: null, durationMs: tookOf(agent, event.at, duration), outcome: result };
    }
    case 'subvitto.failed': {
      const { error, status, duration } = event.payload;
      return {
        ...agent,
        state: status ?? 'failed',
        tool: null,
        durationMs: tookOf(agent, event.at, duration ?? null),
        outcome: error,
      };
    }
  }
}

/** From its beginning to its end: what it waited for others or for the user is part of it. */
function tookOf({ startedAt }: AgentView, endedAt: string, durationMs: number | null): number | null {
  if (durationMs !== null || startedAt === null) return durationMs;
  return Date.parse(endedAt) - Date.parse(startedAt);
}

function progress(agent: AgentView, event: Extract<AgentEvent, { type: 'subvitto.progress' }>): AgentView {
  const { currentTool, detail, state = 'running', startedAt } = event.payload;
  const isSame = agent.tool?.name === currentTool && agent.tool.detail === (detail ?? '');
  return {
    ...agent,
    state: STATES[state] ?? agent.state,
    // One that asks at once may never have been seen at work.
    startedAt: agent.startedAt ?? startedAt ?? (state === 'queued' ? null : event.at),
    tool: isSame
      ? agent.tool
      : currentTool === null
        ? null
        : { name: currentTool, detail: detail ?? '', since: event.at },
  };
}
