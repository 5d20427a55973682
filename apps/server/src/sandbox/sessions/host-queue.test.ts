import { describe, expect, it } from 'vitest';
import { HostQueue } from './host-queue.ts';

/** A queue of one place that is taken, and a log of who got in. */
async function fullQueue() {
  const entered: string[] = [];
  const queue = new HostQueue(1, () => undefined);
  const leave = await queue.enter('first');
  const want = (userId: string, name: string, options: Parameters<HostQueue['enter']>[1] = {}) =>
    queue.enter(userId, options).then((leaveAgain) => {
      entered.push(name);
      return leaveAgain;
    });
  return { queue, leave, want, entered };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the line before a host', () => {
  it('lets users take turns, and each in the order of asking', async () => {
    const { leave, want, entered, queue } = await fullQueue();
    const all = [want('a', 'a1'), want('a', 'a2'), want('a', 'a3'), want('b', 'b1'), want('c', 'c1')];
    for (const one of all) void one.then((leaveAgain) => setImmediate(leaveAgain));
    leave();
    await Promise.all(all);
    expect(entered).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
    await settle();
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  it('tells each its place when it changes, and only then', async () => {
    const { leave, want } = await fullQueue();
    const places: Record<string, number[]> = { a1: [], a2: [], b1: [] };
    const told = (name: string) => ({ onPlace: (place: number) => void places[name]?.push(place) });
    void want('a', 'a1', told('a1'));
    void want('a', 'a2', told('a2'));
    void want('b', 'b1', told('b1'));
    leave();
    await settle();
    expect(places).toEqual({ a1: [1], a2: [2, 3, 2], b1: [2, 1] });
  });

  it('forgets who gives up, and moves the others on', async () => {
    const { leave, want, entered, queue } = await fullQueue();
    const giveUp = new AbortController();
    const gone = want('a', 'a1', { signal: giveUp.signal });
    void want('b', 'b1');
    giveUp.abort(new Error('no more'));
    await expect(gone).rejects.toThrow('no more');
    expect(queue.waiting).toBe(1);
    leave();
    await settle();
    expect(entered).toEqual(['b1']);
  });

  it('says that somebody waits, and counts what ran before it', async () => {
    let full = 0;
    const queue = new HostQueue(1, () => (full += 1));
    const leave = queue.enterRunning();
    const next = queue.enter('a');
    expect([full, queue.running, queue.waiting]).toEqual([1, 1, 1]);
    leave();
    leave();
    await next;
    expect([queue.running, queue.waiting]).toEqual([1, 0]);
  });
});
