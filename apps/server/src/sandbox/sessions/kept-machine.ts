import { join } from 'node:path';
import { whileAway } from '../../kernel/database/while-away.ts';
import type { MachineSnapshot } from '../providers/sandbox-provider.ts';
import { deleteMachine, markEnded, readMachine, type Held, type MachineRow } from './machine.store.ts';
import type { SessionDeps } from './session-types.ts';

export interface MachineEnd {
  /** `unchanged`: of a start that failed, the one before is still there. */
  snapshot: MachineSnapshot | null | 'unchanged';
  /** Why what was in memory is gone, when anybody has to know. */
  lostReason: string | null;
  /** It starts again at once: its claims stay. */
  isGoingOn: boolean;
}

/** What is kept of a session's machine: its row and its folder. The VM is the session's. */
export class KeptMachine {
  readonly #deps: SessionDeps;
  readonly #held: Held;
  readonly #userId: string;

  constructor(deps: SessionDeps, held: Held, userId: string) {
    this.#deps = deps;
    this.#held = held;
    this.#userId = userId;
  }

  /** Another process of this host has its VM. */
  async isTakenOver(vmId: string): Promise<boolean> {
    const { database, hostId, holder } = this.#deps;
    const row = await readMachine(database, this.#held.id, hostId);
    return row !== null && row.vmId === vmId && row.leaseHolder !== holder;
  }

  /** Writes down how its VM ended. Waits while the database is away. */
  async writeEnd({ snapshot, lostReason, isGoingOn }: MachineEnd): Promise<void> {
    const { database, clock, logger, abandoned: signal } = this.#deps;
    const diskBytes = snapshot === 'unchanged' ? null : await this.#measure();
    const end = { snapshot, lostReason, diskBytes, keepClaims: isGoingOn };
    await whileAway(() => markEnded(database, this.#held, end), { clock, logger, signal });
  }

  /** As it was before the start that failed; what was never more than that is taken away. */
  async settleFailedStart({ lostReason, hasStarted }: MachineRow): Promise<void> {
    if (this.#deps.abandoned.aborted) return;
    await this.writeEnd({ snapshot: 'unchanged', lostReason, isGoingOn: false });
    if (!hasStarted) await this.remove();
  }

  async remove(): Promise<void> {
    const { database, provider, hostId } = this.#deps;
    await provider.forget(this.#folder);
    await deleteMachine(database, { id: this.#held.id, hostId, userId: this.#userId });
  }

  async #measure(): Promise<number | null> {
    const size = await this.#deps.provider.measure(this.#folder).catch(() => null);
    return size?.diskBytes ?? null;
  }

  get #folder(): string {
    return join(this.#deps.machinesFolder, this.#held.id);
  }
}
