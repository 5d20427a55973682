import { z } from 'zod';
import {
  LostLease,
  type ClaimedGuest,
  type GuestQuestion,
  type GuestRequest,
  type PromptFacts,
  type TaskRecord,
} from '../engine/index.ts';
import { AppError } from '../kernel/app-error.ts';
import type { Database } from '../kernel/database/database.ts';
import { workInFolder, type SandboxedToolProxyService } from '../sandbox/index.ts';
import { openWorkFolder, removeOldWorkFolders } from './work-folders.ts';

const HOME = '/home/user';

export interface GuestsOptions {
  proxy: SandboxedToolProxyService;
  database: Database;
  /** This installation has a VM tier, whether it works now or not. */
  hasVms: boolean;
  /** Whether the process sandbox works; cached by it. */
  probeProcessSandbox: () => Promise<{ available: boolean }>;
}

/** The guests of tasks as the engine sees them: joins it to the sandbox, which knows no tasks. */
export class Guests {
  readonly #options: GuestsOptions;

  constructor(options: GuestsOptions) {
    this.#options = options;
  }

  async claim(task: TaskRecord, request: GuestRequest): Promise<ClaimedGuest | GuestQuestion> {
    try {
      const claimed = await this.#options.proxy.claim(task, request);
      return await this.#settleIn(task, request, claimed);
    } catch (error) {
      // A later owner has claimed: the journal would refuse this one's next write as well.
      if (error instanceof AppError && error.code === 'sandbox.stale-fence') throw new LostLease(task.id);
      throw error;
    }
  }

  /** The sub-Vittos of a user share a machine: each works in a folder of its own, and old ones are cleared away. */
  async #settleIn(
    task: TaskRecord,
    request: GuestRequest,
    claimed: ClaimedGuest | GuestQuestion,
  ): Promise<ClaimedGuest | GuestQuestion> {
    if (claimed.kind !== 'claimed' || claimed.vm === null) return claimed;
    const { signal } = request;
    const { session, vm } = claimed;
    if (vm.from !== 'session') {
      await removeOldWorkFolders(session, { database: this.#options.database, userId: task.userId, signal });
    }
    if (task.depth === 0) return claimed;
    const folder = await openWorkFolder(session, task.id, signal);
    return { ...claimed, session: workInFolder(session, folder) };
  }

  rest(task: TaskRecord): Promise<void> {
    return this.#options.proxy.rest(task);
  }

  release(task: TaskRecord): Promise<void> {
    return this.#options.proxy.release(task);
  }

  allowPush(taskId: string, repository: string, forMs: number): Promise<{ withdraw: () => Promise<void> }> {
    return this.#options.proxy.allowPush(taskId, repository, forMs);
  }

  suspend(taskId: string): Promise<void> {
    return this.#options.proxy.suspend(taskId);
  }

  canHaveVm(template: string | null): Promise<boolean> {
    return this.#options.proxy.canHaveVm(template);
  }

  /** The same for the life of a task: by what the installation is, not by what just works. No host is asked. */
  async facts(): Promise<PromptFacts['guest']> {
    if (this.#options.hasVms) return { home: HOME, kind: 'vm' };
    const { available } = await this.#options.probeProcessSandbox();
    return available ? { home: HOME, kind: 'process-sandbox' } : null;
  }

  /** Clears what tasks hold that have ended or are gone. Each is looked up after its hold was found, never before. */
  async sweep(): Promise<void> {
    await this.#options.proxy.sweep(async (taskId) => {
      // What a probe of a killed process left is no task's.
      if (!z.uuid().safeParse(taskId).success) return false;
      const result = await this.#options.database.pool.query(
        "select 1 from vitto_tasks where id = $1 and state not in ('completed', 'failed', 'cancelled')",
        [taskId],
      );
      return result.rowCount === 1;
    });
  }
}
