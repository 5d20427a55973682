import { listIdleClaims, touchClaims } from './claim.store.ts';
import { beatHost, renewLeases } from './lease.store.ts';
import { readMachine } from './machine.store.ts';
import type { SessionTable } from './session-table.ts';
import type { SessionDeps } from './session-types.ts';
import { sweepMachines } from './sweep-machines.ts';

const SWEEP_EVERY_MS = 600_000;

/** What a host does every few seconds: leases, claims that are idle, sessions that are old, folders that nobody owns. */
export class HostKeeper {
  readonly #deps: SessionDeps;
  readonly #sessions: SessionTable;
  /** False: the machines here belong to another database. */
  readonly #maySweep: boolean;
  #sweptAt = -Infinity;

  constructor(deps: SessionDeps, sessions: SessionTable, maySweep: boolean) {
    this.#deps = deps;
    this.#sessions = sessions;
    this.#maySweep = maySweep;
  }

  /** A sign of life, and what is due. False: another process speaks for this host, and nothing may be touched any more. */
  async beat(): Promise<boolean> {
    const { database, hostId: id, holder, provider, queue, clock } = this.#deps;
    const { accelerator } = await provider.health();
    const { running, waiting } = queue;
    if (!(await beatHost(database, { id, holder, accelerator, running, waiting }))) return false;
    await this.#renew();
    await this.#releaseIdle();
    for (const session of this.#sessions.all) this.#sessions.prune(session);
    if (this.#maySweep && clock.monotonic() - this.#sweptAt > SWEEP_EVERY_MS) await this.sweep();
    return true;
  }

  /** Removes what is kept of users that are no more. */
  async sweep(): Promise<void> {
    this.#sweptAt = this.#deps.clock.monotonic();
    await sweepMachines(this.#deps, (id) => this.#sessions.find(id) !== null);
  }

  async #renew(): Promise<void> {
    const { database, hostId, holder, policy, logger } = this.#deps;
    const leases = await renewLeases(database, holder, policy.hardLifetimeMs);
    const held = new Map(leases.map((one) => [one.id, one]));
    for (const session of this.#sessions.all) {
      const lease = held.get(session.id);
      if (lease?.isOld === true) session.rotateWhenQuiet();
      if (lease !== undefined || session.sandbox === null) continue;
      const row = await readMachine(database, session.id, hostId);
      // The user is no more: nor is the machine. Or another host has made a new one: the disk is kept for a while.
      const ending =
        row === null
          ? session.forget()
          : row.replacedAt === null
            ? null
            : session.destroy('another machine was made elsewhere');
      ending?.catch((error: unknown) => logger.error({ err: error }, 'a VM did not end'));
    }
  }

  async #releaseIdle(): Promise<void> {
    const { database, hostId, policy } = this.#deps;
    const sessions = new Map(this.#sessions.all.map((session) => [session.id, session]));
    const callers = [...sessions.values()].flatMap((session) => session.takeCallers());
    if (callers.length > 0) await touchClaims(database, callers);
    const minutes = Math.round(policy.maxLifetimeMs / 6000) / 10;
    const reason = `the task made no use of it for ${minutes} minutes`;
    for (const { sessionId, taskId } of await listIdleClaims(database, hostId, policy.maxLifetimeMs)) {
      await sessions.get(sessionId)?.releaseIdle(taskId, reason);
    }
  }
}
