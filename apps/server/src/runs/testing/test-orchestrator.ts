import { SubVittoOrchestratorService, type SubVittoLimits } from '../../engine/index.ts';
import { cancelRun } from '../cancel-run.ts';
import type { RunDependencies } from '../run-dependencies.ts';
import { steerRun } from '../steer-run.ts';

/** As the configuration has them by default. */
export const SUB_VITTO_LIMITS: SubVittoLimits = {
  maxParallel: 5,
  maxRounds: 3,
  maxDepth: 2,
  depth2Ratio: 0.5,
  depth2MaxTools: 5,
  budgets: {
    vm: { maxIterations: 10, maxTokens: 100_000 },
    other: { maxIterations: 10, maxTokens: 100_000 },
  },
};

/** The orchestrator as a worker has it. */
export function createTestOrchestrator(
  runs: RunDependencies,
  limits: SubVittoLimits = SUB_VITTO_LIMITS,
): SubVittoOrchestratorService {
  return new SubVittoOrchestratorService({
    database: runs.database,
    limits,
    steer: (request) => steerRun(runs, { ...request, source: 'deploy_agents' }),
    stop: (request) => cancelRun(runs, { ...request, by: 'the task that deployed it' }),
  });
}
