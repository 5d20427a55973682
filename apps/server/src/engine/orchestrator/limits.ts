/** What the configuration allows sub-Vittos (specification 14). */
export interface SubVittoLimits {
  /** Of one user at once, in all processes together; the rest wait in order. */
  maxParallel: number;
  /** Calls of `deploy_agents` a task. */
  maxRounds: number;
  /** 0: none at all; 1: sub-Vittos deploy nobody; 2: they may deploy once more. */
  maxDepth: number;
  /** What all at depth 2 of one parent together may use of what it had left. */
  depth2Ratio: number;
  depth2MaxTools: number;
  /** A sub-Vitto's own budget, by where it works. */
  budgets: Record<'vm' | 'other', { maxIterations: number; maxTokens: number }>;
}

/** Tokens with which a sub-Vitto can do anything useful (specification 03). */
export const SMALLEST_SHARE_TOKENS = 5_000;
/** The same of running time, in milliseconds. */
export const SMALLEST_SHARE_MS = 1_000;
