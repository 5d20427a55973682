import type { AutonomyContext, EstimatedDuration, GateTask, Tier } from '@vitto/contracts';

/** How long a context holds: the task's estimated duration, at most 5 minutes (specification 04). */
const HOLDS_MS: Record<EstimatedDuration, number> = { short: 60_000, medium: 300_000, long: 300_000 };

/** The context of a user whose trust is not measured yet: the level at which a new user starts, everywhere. */
export function assembleContext(
  task: GateTask,
  world: { now: number; tier: Tier; degradedReason: string | null; startScore: number },
): AutonomyContext {
  return Object.freeze({
    who: Object.freeze({ userId: task.userId, spaceId: null, universeId: null, systemRole: 'owner' }),
    trust: Object.freeze({
      domain: 'system',
      score: world.startScore,
      level: 'SUGGEST',
      trajectory: 'stable',
      levels: Object.freeze({}),
    }),
    execution: Object.freeze({
      tier: world.tier,
      isIsolationRequired: world.tier === 'vm',
      activeVmId: null,
      isRestored: false,
      degradedReason: world.degradedReason,
    }),
    task: Object.freeze({ complexity: task.complexity, estimatedDuration: task.estimatedDuration }),
    proactive: Object.freeze({ matchedTriggerIds: Object.freeze([]), suppressedUntil: null }),
    decision: 'act',
    reason: 'the user asked for this task',
    assembledAt: new Date(world.now).toISOString(),
    cachedUntil: new Date(world.now + HOLDS_MS[task.estimatedDuration]).toISOString(),
  });
}
