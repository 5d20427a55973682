import { expect, it } from 'vitest';
import { EventMaker, idOf } from '../testing/event-maker.ts';
import { RecentEvents } from './recent-events.ts';

it('gives a tab what it lacks, and says when it has been away for too long', () => {
  const make = new EventMaker();
  const recent = new RecentEvents(0);
  for (let at = 0; at < 10_000; at += 1) recent.add(make.text(idOf(1), 1, 'x'));
  expect(recent.after(9_998)?.map((event) => event.position)).toEqual([9_999, 10_000]);
  expect(recent.after(10_000)).toEqual([]);
  expect(recent.after(100)).toBeNull();
  const floor = Array.from({ length: 10_001 }, (_, at) => at).find((at) => recent.after(at) !== null) ?? 0;
  // From the first position that it can serve on, nothing is missing.
  expect(recent.after(floor)).toHaveLength(10_000 - floor);
  expect(new RecentEvents(7).after(6)).toBeNull();
});
