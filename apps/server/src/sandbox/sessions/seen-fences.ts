import { staleFence, type Caller } from './session-claims.ts';

const MAX_TASKS = 10_000;

/** The highest number of each task's lease that this host has seen, of the tasks that were here last. */
export class SeenFences {
  readonly #fences = new Map<string, number>();

  /** @throws AppError `sandbox.stale-fence` when a newer owner has been here. */
  note({ taskId, fence }: Caller): void {
    const seen = this.#fences.get(taskId) ?? 0;
    if (fence < seen) throw staleFence();
    this.#fences.delete(taskId);
    this.#fences.set(taskId, fence);
    for (const oldest of this.#fences.keys()) {
      if (this.#fences.size <= MAX_TASKS) return;
      this.#fences.delete(oldest);
    }
  }
}
