import type { ClaimedGuest, PromptFacts, TaskRecord } from '../engine/index.ts';
import { z } from 'zod';
import type { Database } from '../kernel/database/database.ts';
import type { ProcessSandboxService } from '../sandbox/index.ts';

/** Why commands do not run in a machine of their own in this version. Shown with each task that runs any. */
const DEGRADED =
  'There is no VM tier in this version: commands run in the process sandbox (own namespaces, no network, 256 MiB, 30 s of CPU).';

/** The guests of tasks, from the process sandbox: the degraded mode of the VM tier, and said to be so. */
export class Guests {
  readonly #sandbox: ProcessSandboxService;
  readonly #database: Database;

  constructor(sandbox: ProcessSandboxService, database: Database) {
    this.#sandbox = sandbox;
    this.#database = database;
  }

  async claim(task: TaskRecord): Promise<ClaimedGuest> {
    const session = await this.#sandbox.open({ taskId: task.id, readOnlyPaths: task.allowedPaths });
    const refused = await this.#sandbox.refusedPaths(task.id);
    return {
      session,
      degradedReason: DEGRADED,
      notices: refused.map(({ path, reason }) => `Not shown in the sandbox: ${path}: ${reason}`),
    };
  }

  async release(taskId: string): Promise<void> {
    await this.#sandbox.close(taskId);
  }

  async suspend(taskId: string): Promise<void> {
    await this.#sandbox.suspend(taskId);
  }

  async facts(): Promise<PromptFacts['guest']> {
    const { available } = await this.#sandbox.probe();
    return available ? { home: '/home/user', hasNetwork: false } : null;
  }

  /** Removes the homes of tasks that have ended or are gone. Each is looked up after its home was found, never before. */
  async sweep(): Promise<void> {
    await this.#sandbox.sweep(async (taskId) => {
      // What a probe of a killed process left is no task's.
      if (!z.uuid().safeParse(taskId).success) return false;
      const result = await this.#database.pool.query(
        "select 1 from vitto_tasks where id = $1 and state not in ('completed', 'failed', 'cancelled')",
        [taskId],
      );
      return result.rowCount === 1;
    });
  }
}
