import type { Step, StepKind } from './step.ts';
import { endOf, type TimeScale } from './time-scale.ts';

export const LANES = ['model', 'tools', 'waits'] as const;
export type Lane = (typeof LANES)[number];

export interface Bar {
  lane: Lane;
  /** In shares of the width. */
  x0: number;
  x1: number;
  /** The steps that it stands for: more than one where they are too near to each other to be told apart. */
  steps: Step[];
  isTrouble: boolean;
  isOpen: boolean;
}

const LANE_OF: Partial<Record<StepKind, Lane>> = {
  turn: 'model',
  tool: 'tools',
  asking: 'waits',
  wait: 'waits',
};

/** The bars of the chart, in order of time; those that would lie on one pixel are one. */
export function layOutBars(steps: readonly Step[], scale: TimeScale, width: number, now: number): Bar[] {
  const pixel = 1 / Math.max(1, width);
  const last = new Map<Lane, Bar>();
  const bars: Bar[] = [];
  for (const step of steps) {
    const lane = LANE_OF[step.kind];
    if (lane === undefined) continue;
    const x0 = scale.toX(Date.parse(step.startedAt));
    const x1 = Math.max(x0 + 2 * pixel, scale.toX(endOf(step, now)));
    const before = last.get(lane);
    const isOpen = step.endedAt === null;
    if (before !== undefined && x1 - before.x0 < 4 * pixel) {
      before.x1 = Math.max(before.x1, x1);
      before.steps.push(step);
      before.isTrouble ||= step.isTrouble;
      before.isOpen ||= isOpen;
      continue;
    }
    const bar = { lane, x0, x1: Math.min(1, x1), steps: [step], isTrouble: step.isTrouble, isOpen };
    last.set(lane, bar);
    bars.push(bar);
  }
  return bars;
}
