import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../kernel/clock.ts';
import { SILENCE_LIMITS, SilenceWatch } from './silence-watch.ts';
import { settle } from './testing/drive-turn.ts';

async function pass(clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms);
  await settle();
}

describe('a stream', () => {
  it('may be silent for 60 s and not longer', async () => {
    const clock = new FakeClock();
    const watch = new SilenceWatch(clock, SILENCE_LIMITS);
    await pass(clock, 59_999);
    expect(watch.signal.aborted).toBe(false);
    await pass(clock, 1);
    expect(watch.signal.reason).toMatchObject({ message: 'nothing came for 60 s' });
  });

  it('lives on pings for 5 minutes while the model thinks, and not longer', async () => {
    const clock = new FakeClock();
    const watch = new SilenceWatch(clock, SILENCE_LIMITS);
    for (let seconds = 0; seconds < 290; seconds += 10) {
      await pass(clock, 10_000);
      watch.saw(false);
    }
    expect(watch.signal.aborted).toBe(false);
    await pass(clock, 10_000);
    expect(watch.signal.reason).toMatchObject({ message: 'only pings came for 300 s' });
  });

  it('starts anew with every part', async () => {
    const clock = new FakeClock();
    const watch = new SilenceWatch(clock, SILENCE_LIMITS);
    for (let round = 0; round < 10; round += 1) {
      await pass(clock, 50_000);
      watch.saw(true);
    }
    expect(watch.signal.aborted).toBe(false);
    watch.stop();
    await settle();
    expect(clock.sleeping).toBe(0);
  });
});
