import type { Step } from './step.ts';

/** A stretch of time and the part of the width that it takes. */
interface Stretch {
  from: number;
  to: number;
  x0: number;
  x1: number;
  /** Drawn shorter than it was. */
  isCut: boolean;
}

export interface TimeScale {
  readonly from: number;
  readonly to: number;
  readonly cuts: readonly { x0: number; x1: number }[];
  /** Where a moment stands: 0 the beginning, 1 the end. */
  toX: (time: number) => number;
  toTime: (x: number) => number;
}

/** Waits that took longer than this share of the time at work are drawn as long as this share. */
const WAIT_SHARE = 0.12;

/** Time from left to right. A task that waited overnight would be all night and no work: long waits are cut, and marked. */
export function makeTimeScale(steps: readonly Step[], now: number): TimeScale {
  const from = Math.min(...steps.map((step) => Date.parse(step.startedAt)));
  const to = Math.max(from + 1, ...steps.map((step) => endOf(step, now)));
  const waits = steps
    .filter((step) => step.kind === 'wait')
    .map((step) => ({ from: Date.parse(step.startedAt), to: endOf(step, now) }));
  const waited = waits.reduce((sum, wait) => sum + wait.to - wait.from, 0);
  const longest = Math.max(1000, (to - from - waited) * WAIT_SHARE);
  return fromStretches(from, to, waits, longest);
}

function fromStretches(
  from: number,
  to: number,
  waits: readonly { from: number; to: number }[],
  longest: number,
): TimeScale {
  const parts: { from: number; to: number; length: number; isCut: boolean }[] = [];
  let at = from;
  for (const wait of waits) {
    if (wait.from > at) parts.push({ from: at, to: wait.from, length: wait.from - at, isCut: false });
    const length = wait.to - wait.from;
    parts.push({ from: wait.from, to: wait.to, length: Math.min(length, longest), isCut: length > longest });
    at = Math.max(at, wait.to);
  }
  if (to > at) parts.push({ from: at, to, length: to - at, isCut: false });
  const total = parts.reduce((sum, part) => sum + part.length, 0) || 1;
  let x = 0;
  const stretches: Stretch[] = parts.map((part) => {
    const x0 = x;
    x += part.length / total;
    return { from: part.from, to: part.to, x0, x1: x, isCut: part.isCut };
  });
  return {
    from,
    to,
    cuts: stretches.filter((stretch) => stretch.isCut),
    toX: (time) => along(stretches, time, 'from', 'to', 'x0', 'x1'),
    toTime: (share) => along(stretches, share, 'x0', 'x1', 'from', 'to'),
  };
}

function along(
  stretches: readonly Stretch[],
  value: number,
  a: 'from' | 'x0',
  b: 'to' | 'x1',
  c: 'from' | 'x0',
  d: 'to' | 'x1',
): number {
  const found = stretches.find((stretch) => value <= stretch[b]) ?? stretches.at(-1);
  if (found === undefined) return 0;
  const length = found[b] - found[a];
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, (value - found[a]) / length));
  return found[c] + share * (found[d] - found[c]);
}

export function endOf(step: Step, now: number): number {
  return step.endedAt === null ? now : Date.parse(step.endedAt);
}
