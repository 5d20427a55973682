import type { EventEnvelope } from '@vitto/contracts';
import { isDatabaseAway } from '../../kernel/database/database.ts';
import type { Follower } from './follower.ts';

const READ_ROWS = 200;

/** The end of a user's journal, read once for all who follow a task of theirs. */
export class UserTail {
  readonly followers = new Set<Follower>();
  readonly #readLast: () => Promise<number>;
  readonly #read: (after: number, limit: number) => Promise<EventEnvelope[]>;
  /** Everything up to here has been given out; `null` before it is open. */
  #position: number | null = null;
  #opening: Promise<void> | null = null;
  #isReading = false;
  #isDirty = false;

  constructor(options: {
    readLast: () => Promise<number>;
    read: (after: number, limit: number) => Promise<EventEnvelope[]>;
  }) {
    this.#readLast = options.readLast;
    this.#read = options.read;
  }

  /** Once it is open, a follower that was there before is given whatever is written from then on. */
  async open(): Promise<void> {
    this.#opening ??= this.#readLast().then((position) => {
      this.#position = position;
    });
    try {
      await this.#opening;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  /** Gives out what is new. While the database is away it does nothing; the next waking makes up for it. */
  async wake(): Promise<void> {
    this.#isDirty = true;
    if (this.#isReading || this.#position === null) return;
    this.#isReading = true;
    try {
      while (this.#isDirty) {
        this.#isDirty = false;
        await this.#readNew(this.#position);
      }
    } catch (error) {
      if (isDatabaseAway(error)) return;
      for (const follower of this.followers) follower.stop.abort(error);
    } finally {
      this.#isReading = false;
    }
  }

  async #readNew(after: number): Promise<void> {
    const events = await this.#read(after, READ_ROWS);
    if (events.length === READ_ROWS) this.#isDirty = true;
    this.#position = events.at(-1)?.position ?? after;
    for (const event of events) {
      for (const follower of this.followers) if (follower.taskId === event.taskId) follower.push(event);
    }
  }
}
