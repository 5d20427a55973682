import { z } from 'zod';
import type { SubVittoLimits } from '../engine/index.ts';

const whole = z.coerce.number().int();

/** Variables of sub-Vittos (specification 14). */
export const SUB_VITTO_VARIABLES = {
  VITTO_SUBVITTO_MAX_PARALLEL: whole.min(1).max(1_000).default(5),
  VITTO_SUBVITTO_MAX_ROUNDS: whole.min(1).max(100).default(3),
  VITTO_SUBVITTO_DEFAULT_ITERATIONS: whole.min(1).max(10_000).default(10),
  VITTO_SUBVITTO_DEFAULT_MAX_TOKENS: whole.min(5_000).default(100_000),
  VITTO_VM_DEFAULT_ITERATIONS: whole.min(1).max(10_000).default(10),
  VITTO_VM_DEFAULT_MAX_TOKENS: whole.min(5_000).default(100_000),
  VITTO_MAX_NESTING_DEPTH: whole.min(0).max(2).default(2),
  VITTO_DEPTH2_BUDGET_RATIO: z.coerce.number().gt(0).max(1).default(0.5),
  VITTO_DEPTH2_MAX_TOOLS: whole.min(3).max(100).default(5),
} as const;

export type SubVittoVariables = {
  [K in keyof typeof SUB_VITTO_VARIABLES]: z.output<(typeof SUB_VITTO_VARIABLES)[K]>;
};

export function toSubVittoLimits(variables: SubVittoVariables): SubVittoLimits {
  return {
    maxParallel: variables.VITTO_SUBVITTO_MAX_PARALLEL,
    maxRounds: variables.VITTO_SUBVITTO_MAX_ROUNDS,
    maxDepth: variables.VITTO_MAX_NESTING_DEPTH,
    depth2Ratio: variables.VITTO_DEPTH2_BUDGET_RATIO,
    depth2MaxTools: variables.VITTO_DEPTH2_MAX_TOOLS,
    budgets: {
      vm: {
        maxIterations: variables.VITTO_VM_DEFAULT_ITERATIONS,
        maxTokens: variables.VITTO_VM_DEFAULT_MAX_TOKENS,
      },
      other: {
        maxIterations: variables.VITTO_SUBVITTO_DEFAULT_ITERATIONS,
        maxTokens: variables.VITTO_SUBVITTO_DEFAULT_MAX_TOKENS,
      },
    },
  };
}
