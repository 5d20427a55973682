import type { EventEnvelope, Usage } from '@vitto/contracts';

export type StepKind =
  'turn' | 'tool' | 'asking' | 'wait' | 'message' | 'state' | 'agent' | 'notice' | 'end' | 'raw';

/** One line of a task's timeline: what began, what it came to, and the events that say so. */
export interface Step {
  /** Stable while the page is open. */
  readonly key: string;
  readonly kind: StepKind;
  /** Number of its first event in the task's journal. */
  readonly seq: number;
  readonly startedAt: string;
  /** `null`: it goes on, or nothing says when it ended. */
  readonly endedAt: string | null;
  /** In order of the journal; the raw view shows them. */
  readonly events: readonly EventEnvelope[];
  /** Something went wrong in it. */
  readonly isTrouble: boolean;
  readonly turn?: TurnFacts;
}

export interface TurnFacts {
  readonly turn: number;
  readonly tries: number;
  readonly model: string | null;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly finishReason: string | null;
  /** What it said, cut. */
  readonly says: string;
}

export interface StepList {
  readonly steps: readonly Step[];
  /** Where a step stands in `steps`. */
  readonly index: ReadonlyMap<string, number>;
  /** Key of the wait that has not ended. */
  readonly openWait: string | null;
}

export const NO_STEPS: StepList = { steps: [], index: new Map(), openWait: null };

/** Steps of a part whose end is elsewhere, or of a task that is over: what is open here did not last until now. */
export function closeOpen(steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => (step.endedAt === null ? { ...step, endedAt: step.startedAt } : step));
}

export const STEP_FILTERS = ['all', 'trouble', 'tools', 'model'] as const;
export type StepFilter = (typeof STEP_FILTERS)[number];

export function fitsStepFilter(filter: StepFilter, step: Step): boolean {
  if (filter === 'all') return true;
  if (filter === 'trouble') return step.isTrouble;
  return filter === 'tools' ? step.kind === 'tool' || step.kind === 'asking' : step.kind === 'turn';
}
