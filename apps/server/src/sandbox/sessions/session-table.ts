import { LiveSession } from './live-session.ts';
import { readMachine, type MachineRow } from './machine.store.ts';
import type { SessionDeps } from './session-types.ts';

/** The sessions of which this process has something: a VM, a change under way, somebody who comes. */
export class SessionTable {
  readonly #deps: SessionDeps;
  readonly #sessions = new Map<string, LiveSession>();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  get all(): LiveSession[] {
    return [...this.#sessions.values()];
  }

  find(id: string): LiveSession | null {
    return this.#sessions.get(id) ?? null;
  }

  open(row: MachineRow): LiveSession {
    const known = this.#sessions.get(row.id);
    if (known !== undefined) return known;
    const session = new LiveSession(this.#deps, row);
    this.#sessions.set(row.id, session);
    return session;
  }

  /** A user's machine of this host by its id; another user's is none. */
  async openOf(id: string, userId: string): Promise<LiveSession | null> {
    const row = await readMachine(this.#deps.database, id, this.#deps.hostId);
    return row === null || row.userId !== userId ? null : this.open(row);
  }

  /** Forgets one of which nothing is left in this process. */
  prune(session: LiveSession): void {
    if (session.isIdle && this.#sessions.get(session.id) === session) this.#sessions.delete(session.id);
  }

  /** Somebody waits: sessions that only linger give their room up, the one that has longest first. */
  makeRoom(): void {
    const lingering = this.all
      .filter((session) => session.lingersSince !== null)
      .sort((a, b) => (a.lingersSince ?? 0) - (b.lingersSince ?? 0));
    for (const session of lingering.slice(0, this.#deps.queue.waiting)) {
      session.suspendIfFree().catch((error: unknown) => {
        this.#deps.logger.warn({ err: error }, 'an idle VM could not be suspended');
      });
    }
  }
}
