import { Worker } from 'node:worker_threads';
import { bulkhead } from 'cockatiel';
import { AppError } from '../../../../kernel/app-error.ts';
import type { PageReport, PageWork } from './page-worker.ts';
import type { PageText } from './read-page.ts';

/** Reads a page apart from the server's own thread. Rejects with `web.unreadable-page`, or the signal's reason. */
export type PageReader = (html: string, url: string, signal: AbortSignal) => Promise<PageText>;

const LIMIT_MS = 8_000;
const MEMORY_MB = 384;
const READERS = 2;
const QUEUE = 200;

/**
 * A page is text from anybody: reading it may take any time and memory. So each is read in a thread of its own with
 * limits on both, and few at a time. When the main text is not found in time, all of the text is what there is.
 */
export function createPageReader(options: { limitMs?: number } = {}): PageReader {
  const limitMs = options.limitMs ?? LIMIT_MS;
  const readers = bulkhead(READERS, QUEUE);
  return (html, url, signal) =>
    new Promise((resolve, reject) => {
      const onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      const read = async (): Promise<void> => {
        if (signal.aborted) return onAbort();
        const worker = startWorker({ html, url });
        await awaitReport(worker, limitMs, signal).then(resolve, reject);
        // The answer does not wait for the thread's end; the next reader does.
        await worker.terminate();
      };
      readers
        .execute(read)
        .catch(reject)
        .finally(() => signal.removeEventListener('abort', onAbort));
    });
}

function startWorker(work: PageWork): Worker {
  return new Worker(new URL('./page-worker.ts', import.meta.url), {
    workerData: work,
    // Nothing of the server's environment is any of a page's business.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
}

function awaitReport(worker: Worker, limitMs: number, signal: AbortSignal): Promise<PageText> {
  return new Promise((resolve, reject) => {
    let whole: PageText | null = null;
    const settle = (cause?: unknown) => {
      clearTimeout(timer);
      if (whole === null) reject(unreadable(cause));
      else resolve(whole);
    };
    const timer = setTimeout(settle, limitMs);
    signal.addEventListener('abort', () => settle(signal.reason), { once: true });
    worker.on('error', settle);
    worker.on('exit', () => settle());
    worker.on('message', ({ kind, page }: PageReport) => {
      whole = page;
      if (kind === 'best') settle();
    });
  });
}

function unreadable(cause?: unknown): AppError {
  return new AppError('web.unreadable-page', 'The page takes too much time or memory to read.', {
    hint: 'Ask for it with raw: true to see its source.',
    ...(cause === undefined ? {} : { cause }),
  });
}
