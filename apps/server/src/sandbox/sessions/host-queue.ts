/** One who waits for room. */
interface Waiter {
  userId: string;
  enter: () => void;
  onPlace: ((place: number) => void) | undefined;
  /** The place that was told last. */
  told: number;
}

/**
 * The VMs that run at the same time on a host, and the line before it. Users take turns, whatever each of them asks
 * for; one user's own requests are served in their order.
 */
export class HostQueue {
  readonly capacity: number;
  #running = 0;
  /** Users who wait, the next one to be served first, each with what they wait for. */
  #line = new Map<string, Waiter[]>();
  readonly #onFull: () => void;

  /** `onFull` is told when somebody has to wait: who holds room without need may give it up. */
  constructor(capacity: number, onFull: () => void) {
    this.capacity = capacity;
    this.#onFull = onFull;
  }

  get running(): number {
    return this.#running;
  }
  get waiting(): number {
    return [...this.#line.values()].reduce((sum, own) => sum + own.length, 0);
  }

  /**
   * Waits for room, and gives the function that leaves it again (idempotent). `onPlace` is told the place in the
   * line, counted from 1, each time it changes. Rejects with the signal's reason when it aborts before.
   */
  async enter(
    userId: string,
    options: { onPlace?: (place: number) => void; signal?: AbortSignal } = {},
  ): Promise<() => void> {
    const { onPlace, signal } = options;
    signal?.throwIfAborted();
    if (this.#running < this.capacity && this.#line.size === 0) return this.#takeRoom();
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#remove(waiter);
        reject(signal?.reason as Error);
      };
      const enter = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiter: Waiter = { userId, enter, onPlace, told: 0 };
      signal?.addEventListener('abort', giveUp, { once: true });
      const own = this.#line.get(userId);
      if (own === undefined) this.#line.set(userId, [waiter]);
      else own.push(waiter);
      this.#tellPlaces();
      this.#onFull();
    });
    return this.#leaver();
  }

  /** Counts a VM in that runs already, whether there is room or not: one that an earlier process started. */
  enterRunning(): () => void {
    return this.#takeRoom();
  }

  #takeRoom(): () => void {
    this.#running += 1;
    return this.#leaver();
  }

  #leaver(): () => void {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#running -= 1;
      this.#serve();
    };
  }

  #serve(): void {
    while (this.#running < this.capacity) {
      const next = this.#line.entries().next().value;
      if (next === undefined) return;
      const [userId, own] = next;
      const waiter = own.shift();
      // Whoever wants more goes to the end of the line.
      this.#line.delete(userId);
      if (own.length > 0) this.#line.set(userId, own);
      this.#running += 1;
      waiter?.enter();
      this.#tellPlaces();
    }
  }

  #remove(waiter: Waiter): void {
    const own = (this.#line.get(waiter.userId) ?? []).filter((other) => other !== waiter);
    if (own.length > 0) this.#line.set(waiter.userId, own);
    else this.#line.delete(waiter.userId);
    this.#tellPlaces();
  }

  #tellPlaces(): void {
    const users = [...this.#line.values()];
    const rounds = Math.max(0, ...users.map((own) => own.length));
    let place = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (const own of users) {
        const waiter = own[round];
        if (waiter === undefined) continue;
        place += 1;
        if (waiter.told === place) continue;
        waiter.told = place;
        waiter.onPlace?.(place);
      }
    }
  }
}
