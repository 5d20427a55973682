import { describe, expect, it } from 'vitest';
import { layOutBars } from './gantt-bars.ts';
import type { Step, StepKind } from './step.ts';
import { makeTimeScale } from './time-scale.ts';

const at = (ms: number) => new Date(1_800_000_000_000 + ms).toISOString();
const step = (kind: StepKind, key: string, from: number, to: number | null): Step => ({
  key,
  kind,
  seq: 1,
  startedAt: at(from),
  endedAt: to === null ? null : at(to),
  events: [],
  isTrouble: false,
});

describe('the time scale', () => {
  it('goes evenly from the first to the last moment, and back', () => {
    const scale = makeTimeScale([step('turn', 'a', 0, 4000), step('tool', 'b', 4000, 10_000)], 0);
    expect(scale.toX(scale.from + 2500)).toBeCloseTo(0.25);
    expect(scale.toTime(0.5) - scale.from).toBeCloseTo(5000);
    expect(scale.cuts).toEqual([]);
  });

  it('cuts a night of waiting, and its marks still tell the time', () => {
    const night = 10 * 3_600_000;
    const steps = [
      step('turn', 'a', 0, 10_000),
      step('wait', 'w', 10_000, 10_000 + night),
      step('turn', 'b', 10_000 + night, 20_000 + night),
    ];
    const scale = makeTimeScale(steps, 0);
    expect(scale.cuts).toHaveLength(1);
    expect(scale.toX(scale.from + 10_000)).toBeGreaterThan(0.4);
    expect(scale.toTime(1) - scale.from).toBe(20_000 + night);
  });
});

describe('the bars', () => {
  it('are one where a pixel cannot tell them apart, and hold every step', () => {
    const steps = Array.from({ length: 5000 }, (_, n) => step('tool', `t${n}`, n * 10, n * 10 + 5));
    const bars = layOutBars(steps, makeTimeScale(steps, 0), 800, 0);
    expect(bars.length).toBeLessThan(801);
    expect(bars.reduce((sum, bar) => sum + bar.steps.length, 0)).toBe(5000);
  });

  it('of what goes on reach to now', () => {
    const steps = [step('turn', 'a', 0, 1000), step('tool', 'b', 1000, null)];
    const now = Date.parse(at(4000));
    const bars = layOutBars(steps, makeTimeScale(steps, now), 800, now);
    expect(bars.at(-1)).toMatchObject({ lane: 'tools', x1: 1, isOpen: true });
  });
});
