import { describe, expect, it } from 'vitest';
import { createPageReader } from './page-reader.ts';

const URL_OF_PAGE = 'https://site.test/';
const never = new AbortController().signal;
/** Takes seconds to parse. */
const HEAVY = '<b>x</b> '.repeat(60_000);

describe('a page that is read apart', { timeout: 60_000 }, () => {
  it('comes back as text', async () => {
    const page = await createPageReader()('<title>T</title><p>hi', URL_OF_PAGE, never);
    expect(page).toMatchObject({ title: 'T', text: 'hi' });
  });

  it('is given up when it takes too long, and the next one is read', async () => {
    const read = createPageReader({ limitMs: 1 });
    const failures = await Promise.allSettled([1, 2, 3].map(() => read(HEAVY, URL_OF_PAGE, never)));
    for (const failure of failures) {
      expect(failure).toMatchObject({ status: 'rejected', reason: { code: 'web.unreadable-page' } });
    }
  });

  it('ends with the reason of the signal, also while it waits for its turn', async () => {
    const read = createPageReader();
    const controller = new AbortController();
    const readings = [1, 2, 3].map(() => read(HEAVY, URL_OF_PAGE, controller.signal));
    controller.abort(new Error('cancelled'));
    for (const reading of readings) await expect(reading).rejects.toThrow('cancelled');
    await expect(read(HEAVY, URL_OF_PAGE, controller.signal)).rejects.toThrow('cancelled');
  });

  it('leaves the event loop free', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    await createPageReader()(HEAVY.slice(0, 100_000), URL_OF_PAGE, never);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
  });
});
