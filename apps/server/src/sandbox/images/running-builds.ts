import type { BuildProgress } from './build-progress.ts';
import { cancelled } from './run-program.ts';

interface RunningBuild<T> {
  progress: BuildProgress;
  watchers: Set<Watcher>;
  done: Promise<T>;
  abort: AbortController;
}
interface Watcher {
  onProgress: (progress: BuildProgress) => void;
}
type Work<T> = (onProgress: (progress: BuildProgress) => void, signal: AbortSignal) => Promise<T>;

/** The builds of this process: one at a time of each name, watched by any number. */
export class RunningBuilds<T> {
  readonly #running = new Map<string, RunningBuild<T>>();

  /** How far the build of a name is; `null` when none runs. */
  progressOf(name: string): BuildProgress | null {
    return this.#running.get(name)?.progress ?? null;
  }

  /**
   * Joins the build of a name, or begins it with `work`. The signal lets this caller go at once; the build itself
   * ends when the last of its callers has gone so.
   * @throws what `work` throws; AppError `image.cancelled`
   */
  async join(
    name: string,
    work: Work<T>,
    options: { onProgress?: Watcher['onProgress'] | undefined; signal?: AbortSignal | undefined },
  ): Promise<T> {
    const { signal } = options;
    if (signal?.aborted === true) throw cancelled();
    const build = this.#running.get(name) ?? this.#begin(name, work);
    const watcher = { onProgress: options.onProgress ?? (() => undefined) };
    build.watchers.add(watcher);
    watcher.onProgress(build.progress);
    const leave = Promise.withResolvers<never>();
    const onAbort = () => {
      build.watchers.delete(watcher);
      if (build.watchers.size === 0) build.abort.abort();
      // The last to leave waits until the build has cleaned up.
      else leave.reject(cancelled());
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([build.done, leave.promise]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      build.watchers.delete(watcher);
    }
  }

  /** Ends all builds and waits for them. */
  async stop(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { abort } of running) abort.abort();
    await Promise.allSettled(running.map(({ done }) => done));
  }

  #begin(name: string, work: Work<T>): RunningBuild<T> {
    const abort = new AbortController();
    const watchers: RunningBuild<T>['watchers'] = new Set();
    const onProgress = (progress: BuildProgress) => {
      build.progress = progress;
      for (const watcher of watchers) watcher.onProgress(progress);
    };
    const build: RunningBuild<T> = {
      progress: { step: 'Waiting', fraction: 0 },
      watchers,
      abort,
      done: Promise.resolve()
        .then(() => work(onProgress, abort.signal))
        .finally(() => this.#running.delete(name)),
    };
    // Who watches is told; that nobody does is no fault.
    build.done.catch(() => undefined);
    this.#running.set(name, build);
    return build;
  }
}
