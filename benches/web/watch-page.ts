import type { Page } from 'playwright-core';

interface Watched {
  longestTaskMs: number;
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
    const watched: Watched = { longestTaskMs: 0, layoutShift: 0 };
    window.watched = watched;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        watched.longestTaskMs = Math.max(watched.longestTaskMs, duration);
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

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Processor time in microseconds. */
  tdur?: number;
  args: { name?: string };
}

/** What `longestProcessorMs` needs of the browser's tracing. */
export const TRACE_CATEGORIES = ['toplevel', 'disabled-by-default-devtools.timeline'];

/**
 * The most processor time that a task of a page's main thread took, in ms: what it would last at least on a machine
 * with nothing else to do.
 */
export function longestProcessorMs(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}.${tid}`;
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(threadOf),
  );
  return traceEvents
    .filter((event) => event.name === 'RunTask' && mains.has(threadOf(event)))
    .reduce((longest, { tdur = 0 }) => Math.max(longest, tdur / 1000), 0);
}
