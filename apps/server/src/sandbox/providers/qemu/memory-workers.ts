import { Worker } from 'node:worker_threads';
import type { MemoryPart, WorkerAnswer, WorkerJob } from './memory-jobs.ts';

/** More would not help: what they do is bound by memory and disk. */
const WORKERS = 2;

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}
interface Thread {
  worker: Worker;
  waiting: Map<number, Waiting>;
}

/** Threads that copy and check snapshots' files. They start with the first job and do not keep the process alive. */
export class MemoryWorkers {
  readonly #threads: Thread[] = [];
  #nextId = 1;

  /** Starts them ahead, so that the first restore need not wait. */
  warm(): void {
    while (this.#threads.length < WORKERS) this.#threads.push(this.#start());
  }

  /** Packs a guest's memory into `parts` files of a folder, one a thread. @throws with the code of the system's error */
  async pack(memory: string, bytes: number, folder: string): Promise<MemoryPart[]> {
    const each = Math.ceil(bytes / WORKERS / 4096) * 4096;
    return allOrNone(
      Array.from({ length: WORKERS }, async (_, index) => {
        const file = `ram.${index}`;
        const [from, to] = [index * each, Math.min(bytes, (index + 1) * each)];
        const part = await this.#run({ kind: 'pack', memory, from, to, target: `${folder}/${file}` });
        return { file, ...(part as Omit<MemoryPart, 'file'>) };
      }),
    );
  }

  async unpack(folder: string, parts: MemoryPart[], memory: string): Promise<void> {
    await allOrNone(
      parts.map((part) => this.#run({ kind: 'unpack', source: `${folder}/${part.file}`, memory, part })),
    );
  }

  async checksum(path: string): Promise<{ bytes: number; crc: number }> {
    return (await this.#run({ kind: 'checksum', path })) as { bytes: number; crc: number };
  }

  async copy(path: string, to: string): Promise<{ bytes: number; crc: number }> {
    return (await this.#run({ kind: 'copy', path, to })) as { bytes: number; crc: number };
  }

  #run(job: WorkerJob): Promise<unknown> {
    this.warm();
    const [thread] = this.#threads.toSorted((a, b) => a.waiting.size - b.waiting.size);
    if (thread === undefined) throw new Error('no thread');
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    thread.waiting.set(id, { resolve, reject });
    thread.worker.ref();
    thread.worker.postMessage({ id, job });
    return promise;
  }

  #start(): Thread {
    const worker = new Worker(new URL('./memory-worker.ts', import.meta.url), { execArgv: [] });
    const thread: Thread = { worker, waiting: new Map() };
    worker.unref();
    worker.on('message', ({ id, result, error }: WorkerAnswer) => {
      const waiting = thread.waiting.get(id);
      thread.waiting.delete(id);
      if (thread.waiting.size === 0) worker.unref();
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(Object.assign(new Error(error.message), { code: error.code }));
    });
    const fail = (error: Error): void => {
      const index = this.#threads.indexOf(thread);
      if (index >= 0) this.#threads.splice(index, 1);
      for (const { reject } of thread.waiting.values()) reject(error);
    };
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('the thread ended')));
    return thread;
  }
}

/** Rejects only when all have ended: nothing is written to a folder any more that is removed then. */
async function allOrNone<T>(work: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
