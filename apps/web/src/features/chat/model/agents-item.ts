import type { ArtifactRef, EventPayload, WithheldTool } from '@vitto/contracts';
import type { ItemBase } from './item-base.ts';

/** The sub-Vittos of one call of `deploy_agents`, in the place of its card. */
export interface AgentsItem extends ItemBase {
  readonly kind: 'agents';
  /** `null` while its beginning is on an older page, as with the other unknowns below. */
  readonly round: number | null;
  readonly maxRounds: number | null;
  /** What is to be made of the results, as the parent noted it. */
  readonly synthesis: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** `synthesizing`: all have ended, and the parent makes its next turn. */
  readonly stage: 'running' | 'synthesizing' | 'done';
  /** What the call failed of after it had deployed them; `null` when it did not. */
  readonly trouble: string | null;
  /** Files of its result, and where text in it came from that is not trusted. */
  readonly artifacts: readonly ArtifactRef[];
  readonly untrusted: string | null;
  /** In the order of the call. */
  readonly agents: readonly AgentView[];
}

export type AgentState =
  | 'waiting'
  | 'running'
  | 'asking'
  | 'question'
  | 'deploying'
  | 'done'
  /** It ended by itself and says that it did not reach its goal. */
  | 'unsuccessful'
  | 'failed'
  | 'cancelled'
  | 'timeout';

/** Where one sub-Vitto stands, as its parent's journal tells it. */
export interface AgentView {
  readonly id: string;
  readonly role: string | null;
  /** Empty while it is on an older page. */
  readonly title: string;
  readonly tier: EventPayload<'subvitto.spawned'>['tier'] | null;
  readonly dependsOn: readonly string[];
  readonly withheld: readonly WithheldTool[];
  readonly state: AgentState;
  readonly startedAt: string | null;
  readonly tool: { readonly name: string; readonly detail: string; readonly since: string } | null;
  readonly vm: Pick<EventPayload<'subvitto.vm_acquired'>, 'restored' | 'acquireTimeMs' | 'from'> | null;
  readonly degraded: Pick<EventPayload<'subvitto.vm_degraded'>, 'reason' | 'fallbackTier'> | null;
  /** Milliseconds from its beginning to its end, or at work where its beginning is not known; `null` until it has ended. */
  readonly durationMs: number | null;
  /** Its report, or what it failed of; empty until it has ended. */
  readonly outcome: string;
}

export function newAgent(id: string): AgentView {
  return {
    id,
    role: null,
    title: '',
    tier: null,
    dependsOn: [],
    withheld: [],
    state: 'waiting',
    startedAt: null,
    tool: null,
    vm: null,
    degraded: null,
    durationMs: null,
    outcome: '',
  };
}

const AT_WORK: ReadonlySet<AgentState> = new Set(['running', 'asking', 'question', 'deploying']);

/** It has begun and has not ended. */
export function isAtWork({ state }: AgentView): boolean {
  return AT_WORK.has(state);
}

/** It goes on once the user has answered. */
export function isForUser({ state }: AgentView): boolean {
  return state === 'asking' || state === 'question';
}

export function hasEnded({ state }: AgentView): boolean {
  return state !== 'waiting' && !AT_WORK.has(state);
}

/** Its beginning is on a page that is not here. */
export function isPartial(item: { kind: string; round?: number | null }): boolean {
  return item.kind === 'agents' && item.round === null;
}

/** How many are in each state, those alone that are. */
export function countStates(agents: readonly AgentView[]): Map<AgentState, number> {
  const counts = new Map<AgentState, number>();
  for (const { state } of agents) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

/** Heights before a group is drawn, in pixels; on a narrow screen some lines stand below each other. */
const ROW_HEIGHT = 61;
const LINE_HEIGHT = 22;
const HEAD_HEIGHT = 58;
/** More rows than this are in a window of this height, which scrolls by itself. */
const ROWS_MAX = 10;
const WINDOW_HEIGHT = 512;

/** The height that the list of so many is kept to; `null`: they are few. */
export function windowHeight(rows: number): number | null {
  return rows > ROWS_MAX ? WINDOW_HEIGHT : null;
}

/** How high the group is before it has been drawn, in pixels. */
export function estimateGroupHeight({ stage, synthesis, agents }: AgentsItem, isNarrow = false): number {
  const head = HEAD_HEIGHT + (isNarrow ? LINE_HEIGHT : 0);
  if (stage === 'done') return head;
  let rows = -1;
  for (const { withheld, degraded } of agents) {
    rows += ROW_HEIGHT + (isNarrow ? LINE_HEIGHT : 0);
    if (withheld.length > 0) rows += LINE_HEIGHT;
    if (degraded !== null) rows += 2 * LINE_HEIGHT;
  }
  return head + (windowHeight(agents.length) ?? rows) + (synthesis === null ? 0 : 38);
}
