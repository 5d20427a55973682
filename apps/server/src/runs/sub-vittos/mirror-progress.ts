import {
  readKnownEvent,
  type EventPayload,
  type KnownEvent,
  type NewEvent,
  type TaskState,
} from '@vitto/contracts';
import {
  appendEvents,
  countOpenTasks,
  lockTask,
  type FoldEvent,
  type TaskRecord,
} from '../../engine/index.ts';
import type { Database, SqlClient } from '../../kernel/database/database.ts';
import { inTransaction } from '../../kernel/database/transaction.ts';
import type { Logger } from '../../kernel/logger.ts';
import { cutText } from '../../kernel/text/cut.ts';

/** A parent's journal says where a sub-Vitto stands at most so often. */
const EVERY_MS = 300;
const DETAIL_MAX_LENGTH = 200;
/** The argument that says best what a call is at. */
const TELLING = ['command', 'path', 'url', 'pattern', 'query', 'question', 'description'] as const;

/** Where a sub-Vitto stands. */
type Standing = Pick<
  EventPayload<'subvitto.progress'>,
  'iteration' | 'currentTool' | 'detail' | 'state' | 'startedAt'
>;

/**
 * Tells a parent's journal where one of its sub-Vittos stands, for people who look at the parent: how its VM came, and
 * a few times a second the step and the tool that it is at. What is not told because the process died is in the
 * sub-Vitto's own journal.
 */
export class ProgressMirror {
  readonly #options: { database: Database; logger: Logger; onGrew: () => void };
  readonly #child: TaskRecord & { parentId: string };
  #standing: Standing;
  #told: string;
  #timer: NodeJS.Timeout | undefined;
  #writes: Promise<void> = Promise.resolve();

  constructor(
    child: TaskRecord & { parentId: string },
    options: { database: Database; logger: Logger; onGrew: () => void },
  ) {
    this.#child = child;
    this.#options = options;
    const startedAt = child.startedAt?.toISOString();
    this.#standing = {
      iteration: child.iterations,
      currentTool: null,
      detail: null,
      state: 'running',
      ...(startedAt === undefined ? {} : { startedAt }),
    };
    this.#told = '';
    this.#schedule();
  }

  /** Takes an event of the sub-Vitto that was just written. */
  apply(event: FoldEvent): void {
    if (event.taskId !== this.#child.id) return;
    const known = readKnownEvent({ ...event, at: EPOCH });
    if (known === null) return;
    const mirrored = this.#toMirrored(known);
    if (mirrored !== null) return this.#write([mirrored]);
    const next = stand(this.#standing, known);
    if (next === this.#standing) return;
    this.#standing = next;
    // Whether it parks or has ended is told by the write that does it.
    this.#schedule();
  }

  /** Tells what it waits for when it has parked (`null`: it has ended or goes on elsewhere, which says more). Never throws. */
  async finish(state: TaskState | null): Promise<void> {
    clearTimeout(this.#timer);
    if (state !== null) {
      this.#standing = { ...this.#standing, currentTool: null, detail: null, state };
      this.#tell();
    }
    await this.#writes;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tell();
    }, EVERY_MS);
  }

  #tell(): void {
    const text = JSON.stringify(this.#standing);
    if (text === this.#told) return;
    this.#told = text;
    this.#write([{ type: 'subvitto.progress', payload: { id: this.#child.id, ...this.#standing } }]);
  }

  #write(events: NewEvent[]): void {
    const { database, logger, onGrew } = this.#options;
    this.#writes = this.#writes
      .then(() => inTransaction(database, (client) => this.#tellParent(client, events)))
      .then(onGrew, (error: unknown) => {
        logger.debug(
          { err: error, taskId: this.#child.id },
          'a parent was not told where its sub-Vitto stands',
        );
      });
  }

  /** Under the parent's lock, which the end of the sub-Vitto takes as well: nothing of it is told after its end. */
  async #tellParent(client: SqlClient, events: NewEvent[]): Promise<void> {
    const { id, parentId } = this.#child;
    if ((await lockTask(client, parentId)) === null || (await countOpenTasks(client, [id])) === 0) return;
    await appendEvents(client, { taskId: parentId, fence: null, events });
  }

  #toMirrored(event: KnownEvent): NewEvent | null {
    const { id } = this.#child;
    if (event.type === 'vm.acquired') {
      const { vmId = '', restored = false, acquireTimeMs = 0, from } = event.payload;
      const payload = { id, vmId, restored, acquireTimeMs, ...(from === undefined ? {} : { from }) };
      return { type: 'subvitto.vm_acquired', payload };
    }
    if (event.type !== 'vm.degraded') return null;
    const { reason, fallbackTier } = event.payload;
    return { type: 'subvitto.vm_degraded', payload: { id, reason, fallbackTier } };
  }
}
const EPOCH = new Date(0).toISOString();

function stand(standing: Standing, event: KnownEvent): Standing {
  switch (event.type) {
    case 'agent.iteration':
      return { ...standing, iteration: event.payload.iteration, currentTool: null, detail: null };
    case 'tool.starting':
      return { ...standing, currentTool: event.payload.tool, detail: describe(event.payload.arguments) };
    case 'tool.called':
      return { ...standing, currentTool: null, detail: null };
    default:
      return standing;
  }
}

function describe(args: unknown): string | null {
  if (typeof args !== 'object' || args === null) return null;
  const values = args as Record<string, unknown>;
  const name = TELLING.find((key) => typeof values[key] === 'string');
  return name === undefined ? null : cutText(String(values[name]), DETAIL_MAX_LENGTH);
}
