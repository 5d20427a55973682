import { describe, expect, it } from 'vitest';
import { EventMaker, idOf } from '../../../testing/event-maker.ts';
import { applyToLive, dismiss, groupLive, MOST_ENDED, NOTHING_LIVE } from './live-view.ts';
import { toLines } from './tail.ts';

const [ROOT, A, B, C] = [idOf(1), idOf(2), idOf(3), idOf(4)];

function deploy(make: EventMaker, id: string, index: number, parentTaskId = ROOT, depth = 1) {
  return make.created(id, { kind: 'subvitto', parentTaskId, rootTaskId: ROOT, depth, round: 1, index });
}
const show = (view: Parameters<typeof groupLive>[0]) =>
  groupLive(view).map((group) => [group.tasks.map((task) => Number(task.id.slice(-4))), group.queued]);

describe('who is seen live', () => {
  it('is a root with those that work for it, each parent before its own, and how many wait in line', () => {
    const make = new EventMaker();
    const view = applyToLive(NOTHING_LIVE, [
      make.created(ROOT),
      make.started(ROOT),
      deploy(make, A, 1),
      deploy(make, B, 0),
      deploy(make, C, 0, B, 2),
      make.started(B),
      make.started(C),
    ]);
    expect(show(view.live.tasks)).toEqual([[[1, 3, 4], 1]]);
    const next = applyToLive(view, [make.started(A), make.created(idOf(9)), make.started(idOf(9))]);
    expect(show(next.live.tasks)).toEqual([
      [[9], 0],
      [[1, 3, 4, 2], 0],
    ]);
  });

  it('keeps what has ended until its root has, or somebody takes it out of sight', () => {
    const make = new EventMaker();
    const view = applyToLive(NOTHING_LIVE, [
      make.created(ROOT),
      make.started(ROOT),
      deploy(make, A, 0),
      deploy(make, B, 1),
      make.started(A),
      make.started(B),
      make.text(A, 1, 'Hello'),
      make.completed(A, 'Done.'),
    ]);
    expect(show(view.live.tasks)).toEqual([[[1, 2, 3], 0]]);
    expect(show(dismiss(view, new Set([A, B])).live.tasks)).toEqual([[[1, 3], 0]]);
    expect(dismiss(view, new Set([A])).tails.has(A)).toBe(false);
    const over = applyToLive(view, [make.completed(B, 'Done.'), make.completed(ROOT, 'All done.')]);
    expect(show(over.live.tasks)).toEqual([[[1], 0]]);
    expect(over.tails.size).toBe(0);
  });

  it('counts and shows no event twice that the server had counted', () => {
    const make = new EventMaker();
    const events = [make.created(ROOT), make.started(ROOT), make.text(ROOT, 1, 'one')];
    const view = applyToLive(NOTHING_LIVE, events);
    const again = applyToLive(view, [...events, make.text(ROOT, 1, ' two')]);
    expect(toLines(again.tails.get(ROOT) ?? [])).toEqual([{ source: 'text', text: 'one two' }]);
  });

  it('holds no more ended tasks than it may, however many there were', () => {
    const make = new EventMaker();
    let view = NOTHING_LIVE;
    for (let n = 0; n < 300; n += 1) {
      const id = idOf(100 + n);
      view = applyToLive(view, [
        make.created(id),
        make.started(id),
        make.text(id, 1, 'x'),
        make.completed(id, 'y'),
      ]);
    }
    expect(view.live.tasks.size).toBe(MOST_ENDED);
    expect(view.live.calls.size).toBeLessThanOrEqual(MOST_ENDED);
    expect(view.tails.size).toBeLessThanOrEqual(MOST_ENDED);
  });
});
