import type { AutonomyContext, CallToDecide, Decision, GateTask } from '@vitto/contracts';

/** Evaluates the gate for a task. Boots nothing and writes nothing; the engine journals what it says. */
export type EvaluateGate = (task: GateTask) => Promise<AutonomyContext>;

/** Decides one call. Pure: the same call under the same context gives the same decision. */
export type DecideCall = (call: CallToDecide, context: AutonomyContext) => Decision;
