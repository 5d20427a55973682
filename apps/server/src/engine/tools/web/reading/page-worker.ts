import { parentPort, workerData } from 'node:worker_threads';
import { readPage, type PageText } from './read-page.ts';

/** What a worker is started with. */
export interface PageWork {
  html: string;
  url: string;
}
/** What it says: all of the text, then the best of it. */
export type PageReport = { kind: 'whole' | 'best'; page: PageText };

const report = (message: PageReport): void => parentPort?.postMessage(message);
const { html, url } = workerData as PageWork;
report({ kind: 'best', page: readPage(html, url, (page) => report({ kind: 'whole', page })) });
