import type { AppError } from '../../kernel/app-error.ts';
import type { HostQueue } from './host-queue.ts';

/** Those who are on their way to a claim on one session, and their start's place in the line before the host. */
export class Arrivals {
  readonly #queue: Pick<HostQueue, 'enter'>;
  readonly #userId: string;
  /** Each wants to know its place. */
  readonly #coming = new Set<(place: number) => void>();
  /** `null`: no start of theirs stands in the line. */
  #place: number | null = null;
  /** Aborts the waiting for room of a start that nobody wants any more. */
  #wanted = new AbortController();

  constructor(queue: Pick<HostQueue, 'enter'>, userId: string) {
    this.#queue = queue;
    this.#userId = userId;
  }

  get size(): number {
    return this.#coming.size;
  }

  /** The function that is given back says that who came is here or gives up. */
  add(onPlace: (place: number) => void): () => void {
    const coming = (place: number): void => onPlace(place);
    this.#coming.add(coming);
    if (this.#place !== null) onPlace(this.#place);
    return () => void this.#coming.delete(coming);
  }

  /** Waits for room on the host; the function gives it up. @throws the reason of `cancel` */
  async enter(): Promise<() => void> {
    const onPlace = (place: number): void => {
      this.#place = place;
      for (const tell of this.#coming) tell(place);
    };
    try {
      return await this.#queue.enter(this.#userId, { onPlace, signal: this.#wanted.signal });
    } finally {
      this.#place = null;
    }
  }

  cancel(reason: AppError): void {
    this.#wanted.abort(reason);
    this.#wanted = new AbortController();
  }
}
