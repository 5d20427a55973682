import type { Page } from 'playwright-core';

interface Watched {
  longestTaskMs: number;
  /** Tasks over 100 ms. */
  longTasks: number;
  layoutShift: number;
}
declare global {
  interface Window {
    watched: Watched;
  }
}

/** Begins to watch a page for long tasks and for things that move by themselves. */
export async function watchPage(page: Page): Promise<void> {
  await page.evaluate(() => {
    const watched: Watched = { longestTaskMs: 0, longTasks: 0, layoutShift: 0 };
    window.watched = watched;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        watched.longestTaskMs = Math.max(watched.longestTaskMs, duration);
        if (duration > 100) watched.longTasks += 1;
      }
    }).observe({ type: 'longtask' });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const shift = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
        if (!shift.hadRecentInput) watched.layoutShift += shift.value;
      }
    }).observe({ type: 'layout-shift' });
  });
}

/** What was seen since. Tasks under 50 ms are none in the browser's own count: then the longest is 0. */
export async function readWatch(page: Page): Promise<Watched> {
  return page.evaluate(() => window.watched);
}
