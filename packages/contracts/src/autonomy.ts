import type {
  ActionDomain,
  AutonomyLevel,
  Complexity,
  EstimatedDuration,
  Risk,
  TaskKind,
  Tier,
  Verdict,
} from './words.ts';

/**
 * What the gate knows of a task when it starts (specification 04): a frozen snapshot. The engine asks for it once
 * before the first iteration, and again when it has expired.
 */
export interface AutonomyContext {
  readonly who: {
    readonly userId: string;
    readonly spaceId: string | null;
    readonly universeId: string | null;
    readonly systemRole: string;
  };
  readonly trust: {
    readonly domain: ActionDomain;
    readonly score: number;
    readonly level: AutonomyLevel;
    readonly trajectory: 'rising' | 'stable' | 'declining';
    /** One task can use tools of several domains. */
    readonly levels: Readonly<Partial<Record<ActionDomain, AutonomyLevel>>>;
  };
  readonly execution: {
    readonly tier: Tier;
    readonly isIsolationRequired: boolean;
    readonly activeVmId: string | null;
    readonly isRestored: boolean;
    /** Why the VM tier is not to be had; `null` when it is, or is not needed. */
    readonly degradedReason: string | null;
  };
  readonly task: { readonly complexity: Complexity; readonly estimatedDuration: EstimatedDuration };
  readonly proactive: {
    readonly matchedTriggerIds: readonly string[];
    readonly suppressedUntil: string | null;
  };
  readonly decision: 'act' | 'suggest' | 'wait';
  readonly reason: string;
  readonly assembledAt: string;
  readonly cachedUntil: string;
}

/** A task as the gate sees it. */
export interface GateTask {
  id: string;
  userId: string;
  kind: TaskKind;
  requestedTier: Tier | null;
  complexity: Complexity;
  estimatedDuration: EstimatedDuration;
}

/** One tool call, as it is decided on. */
export interface CallToDecide {
  tool: string;
  domain: ActionDomain;
  risk: Risk;
  tier: Tier;
  arguments: unknown;
  /** SHA-256 of the arguments in canonical JSON (RFC 8785), hexadecimal. */
  argumentsHash: string;
  /** The part of the arguments that a grant may generalise over; `null`: only this exact call. */
  grantKey: string | null;
  /** The task has read untrusted text. */
  isTainted: boolean;
  /** Nothing that the call does can leave the task's own guest. */
  isContained: boolean;
  taskKind: TaskKind;
}

export interface Decision {
  verdict: Verdict;
  /** In words, for the person and the model. */
  reason: string;
  /** The user rule or grant that decided, when one did. */
  ruleId?: string;
}
