import { z } from 'zod';

/** The fixed vocabularies of the product (specification 00, "Words", and 01). One place, used by server, web and CLI. */

/** States of a task. A waiting task is parked: it holds no worker slot, no connection and no model stream. */
export const TASK_STATES = [
  'queued',
  'running',
  'waiting_approval',
  'waiting_children',
  'waiting_input',
  'completed',
  'failed',
  'cancelled',
] as const;
export const taskState = z.enum(TASK_STATES);
export type TaskState = z.infer<typeof taskState>;

export const WAITING_STATES = ['waiting_approval', 'waiting_children', 'waiting_input'] as const;
export const waitingState = z.enum(WAITING_STATES);
export type WaitingState = z.infer<typeof waitingState>;

export const END_STATES = ['completed', 'failed', 'cancelled'] as const;
/** True when a task in this state will never run again. */
export function isEndState(state: TaskState): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}

export const taskKind = z.enum(['chat', 'subvitto', 'proactive', 'scheduled', 'eval']);
export type TaskKind = z.infer<typeof taskKind>;

export const complexity = z.enum(['simple', 'moderate', 'complex']);
export type Complexity = z.infer<typeof complexity>;

/** Estimated duration: short < 1 min, medium 1–10 min, long more. */
export const estimatedDuration = z.enum(['short', 'medium', 'long']);
export type EstimatedDuration = z.infer<typeof estimatedDuration>;

/** Where tools run. */
export const tier = z.enum(['in-process', 'vm', 'browser']);
export type Tier = z.infer<typeof tier>;

/** What kind of thing a tool does; trust is kept per user and domain. */
export const actionDomain = z.enum([
  'code_execution',
  'web_search',
  'messaging',
  'deployment',
  'knowledge',
  'delegation',
  'system',
]);
export type ActionDomain = z.infer<typeof actionDomain>;

export const risk = z.enum(['read', 'write', 'irreversible']);
export type Risk = z.infer<typeof risk>;

/** How a call that started and did not finish is settled after a crash (specification 05). */
export const idempotency = z.enum(['pure', 'idempotent', 'once']);
export type Idempotency = z.infer<typeof idempotency>;

export const AUTONOMY_LEVELS = ['OBSERVE', 'SUGGEST', 'DIRECT', 'AUTONOMOUS'] as const;
export const autonomyLevel = z.enum(AUTONOMY_LEVELS);
export type AutonomyLevel = z.infer<typeof autonomyLevel>;

/** What the decision hook says of one tool call. */
export const verdict = z.enum(['act', 'ask', 'refuse']);
export type Verdict = z.infer<typeof verdict>;

/** What a model is used for; each role maps to an ordered list of models. */
export const modelRole = z.enum(['main', 'fast', 'subvitto', 'embedding']);
export type ModelRole = z.infer<typeof modelRole>;
