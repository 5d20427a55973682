import type { EventEnvelope } from '@vitto/contracts';
import { Sleeper } from './sleeper.ts';

/** What waits for one follower; one that is slower reads the table again. */
const MAX_PENDING = 500;

/** One who follows a task: the events that wait for it, and what wakes and ends it. */
export class Follower {
  readonly taskId: string;
  readonly credential: string;
  readonly sleeper = new Sleeper();
  readonly stop = new AbortController();
  /** The table has events that it has not been given. */
  isBehind = true;
  #pending: EventEnvelope[] = [];

  constructor(options: { taskId: string; credential: string }) {
    this.taskId = options.taskId;
    this.credential = options.credential;
  }

  push(event: EventEnvelope): void {
    if (this.#pending.length >= MAX_PENDING) this.fallBehind();
    else if (!this.isBehind) this.#pending.push(event);
    this.sleeper.wake();
  }

  /** Drops what waits: the table has it. */
  fallBehind(): void {
    this.isBehind = true;
    this.#pending = [];
  }

  /** What waits of the events after a position. */
  take(after: number): EventEnvelope[] {
    const pending = this.#pending.filter((event) => event.position > after);
    this.#pending = [];
    return pending;
  }
}
