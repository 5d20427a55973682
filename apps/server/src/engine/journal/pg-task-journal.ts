import type { Failure, NewEvent, Spending, WaitingFor, WaitingState } from '@vitto/contracts';
import type { Clock } from '../../kernel/clock.ts';
import type { Database, Sql, SqlClient } from '../../kernel/database/database.ts';
import type { Logger } from '../../kernel/logger.ts';
import { CLOSING_TOKENS } from '../budget/plan-budget.ts';
import type { Finish, FoldEvent, SpawnedRound, TaskJournal } from '../loop/task-journal.ts';
import { insertApprovals, useApproval, voidApprovals, type NewApproval } from './approval.store.ts';
import {
  appendStored,
  joinStored,
  LostLease,
  NO_EVENTS,
  readTaskEvents,
  toShown,
  toStored,
  type Appended,
  type BudgetRefusal,
  type Reservation,
  type Settlement,
  type StoredEvents,
} from './journal.store.ts';
import { endTask, lockChain, parkTask, releaseReservations, requeueTask, taintTask } from './lease.store.ts';
import { findNextSubVittos, insertSubVittos, isBudgetHeldByOthers, limitBelow } from './sub-vitto.store.ts';
import { findTask, lockTask, toTask, type TaskRecord } from './task.store.ts';
import { mapStrings } from '../../kernel/text/storable.ts';
import { inTransaction } from '../../kernel/database/transaction.ts';
import { whileAway } from '../../kernel/database/while-away.ts';

export interface JournalOptions {
  database: Database;
  task: { id: string; userId: string; parentId: string | null; fence: number; lastSeq: number };
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Gets every event once, in the order of the fold. */
  fold: (event: FoldEvent) => void;
  /** Called after each write. */
  onGrew: () => void;
  /** Asks for a worker for a task, in the transaction of the client. */
  wake: (taskId: string, client: SqlClient) => Promise<void>;
  /** Called in the transaction in which the task has parked or ended, after all else is written. */
  onLetGo: (client: SqlClient, change: 'parked' | 'ended') => Promise<void>;
}

/** `TaskJournal` on PostgreSQL. */
export class PgTaskJournal implements TaskJournal {
  readonly #options: JournalOptions;
  readonly #owner: { taskId: string; fence: number };
  #lastSeq: number;
  #lastPosition = 0;
  /** Seq up to which others' events are known to be missing here; 0 when none are. */
  #newsThrough = 0;
  readonly #missing: { from: number; to: number }[] = [];
  #staged: { events: StoredEvents; settle: Settlement | null } = NOTHING_STAGED;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#owner = { taskId: options.task.id, fence: options.task.fence };
    this.#lastSeq = options.task.lastSeq;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }
  get hasNews(): boolean {
    return this.#newsThrough > 0;
  }

  stage(events: NewEvent[], settle?: Settlement): void {
    const stored = toStored(events);
    for (const event of stored.list) this.#fold(event, this.#lastSeq + 1, this.#lastPosition + 1);
    this.#staged = {
      events: joinStored(this.#staged.events, stored),
      settle: settle === undefined ? this.#staged.settle : addSettlements(this.#staged.settle, settle),
    };
  }

  append(events: NewEvent[]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#write({ then: events });
    });
  }

  reserve(reservation: Reservation, events: NewEvent[], iteration?: number): Promise<BudgetRefusal | null> {
    return this.#inTurn(async () => {
      const written = await this.#write({ then: events, reserve: reservation, iteration: iteration ?? null });
      return written.refusal;
    });
  }

  isBudgetHeldByOthers(): Promise<boolean> {
    const { pool } = this.#options.database;
    return this.#whileAway(() => isBudgetHeldByOthers(pool, this.#owner.taskId, CLOSING_TOKENS));
  }

  requestApprovals(approvals: NewApproval[], events: NewEvent[]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#writeInTransaction(events, (sql) => insertApprovals(sql, approvals));
    });
  }

  spawn(round: SpawnedRound): Promise<void> {
    const { userId } = this.#options.task;
    return this.#inTurn(() =>
      this.#writeInTransaction(round.events, async (client) => {
        await lockChain(client, this.#owner.taskId);
        await insertSubVittos(client, round.children);
        if (round.pool !== null) await limitBelow(client, this.#owner.taskId, round.pool);
        const next = await findNextSubVittos(client, userId, round.maxParallel);
        for (const id of next) await this.#options.wake(id, client);
      }),
    );
  }

  startApproved(approvalId: string, argumentsHash: string, event: NewEvent): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        await this.#writeInTransaction([event], async (sql) => {
          if (!(await useApproval(sql, approvalId, argumentsHash))) throw new NotUsable();
        });
        return true;
      } catch (error) {
        if (error instanceof NotUsable) return false;
        throw error;
      }
    });
  }

  voidApprovals(reason: string, tool?: string): Promise<void> {
    return this.#inTurn(async () => {
      const { database } = this.#options;
      const voided = await this.#whileAway(() =>
        inTransaction(database, async (client) => {
          const row = await lockTask(client, this.#owner.taskId);
          if (row?.fence !== this.#owner.fence) throw new LostLease(this.#owner.taskId);
          const events = await voidApprovals(client, this.#owner.taskId, reason, tool);
          return appendStored(client, { ...this.#owner, events: NO_EVENTS, then: toStored(events) });
        }),
      );
      this.#accept(voided);
    });
  }

  taint(): Promise<void> {
    return this.#inTurn(() => this.#whileAway(() => taintTask(this.#options.database.pool, this.#owner)));
  }

  park(state: WaitingState, waitingFor: WaitingFor, keepsHeadroom: boolean): Promise<boolean> {
    const event: NewEvent = { type: 'task.parked', payload: { state, waitingFor } };
    return this.#end(
      'task.parked',
      () => event,
      (sql, seq) =>
        parkTask(sql, { ...this.#owner, seq }, state, mapStrings(waitingFor, toShown) as WaitingFor),
      { keepsHeadroom },
    );
  }

  complete({ text, success, artifacts, check }: Finish): Promise<boolean> {
    return this.#end(
      'task.completed',
      (spending) => ({
        type: 'task.completed',
        payload: {
          result: text,
          success,
          ...(artifacts === undefined ? {} : { artifacts }),
          ...(check === undefined ? {} : { check }),
          spending,
          ...this.#ofParent(),
        },
      }),
      (sql, seq) =>
        endTask(sql, { ...this.#owner, seq }, { state: 'completed', result: toShown(text), success }),
    );
  }

  async fail(error: Failure): Promise<void> {
    for (;;) {
      const isEnded = await this.#end(
        'task.failed',
        (spending) => ({ type: 'task.failed', payload: { error, spending, ...this.#ofParent() } }),
        (sql) =>
          endTask(
            sql,
            { ...this.#owner, seq: null },
            { state: 'failed', error: mapStrings(error, toShown) as Failure },
          ),
      );
      if (isEnded) return;
      await this.readNews();
    }
  }

  #ofParent(): { parentTaskId?: string } {
    const { parentId } = this.#options.task;
    return parentId === null ? {} : { parentTaskId: parentId };
  }

  async giveBack(reason: string): Promise<void> {
    const event: NewEvent = { type: 'task.queued', payload: { reason } };
    while (
      !(await this.#end(
        'task.queued',
        () => event,
        (sql) => requeueTask(sql, this.#owner),
      ))
    ) {
      await this.readNews();
    }
  }

  readNews(): Promise<void> {
    return this.#inTurn(async () => {
      for (const { from, to } of this.#missing.splice(0)) {
        const events = await this.#whileAway(() =>
          readTaskEvents(this.#options.database.pool, this.#owner.taskId, from - 1, to - from + 1),
        );
        for (const event of events) this.#options.fold(event);
      }
      this.#newsThrough = 0;
    });
  }

  /**
   * Writes the last event and changes the task's state in one transaction, unless somebody else has appended since the
   * last read: then nothing is written and what they wrote is noted as news.
   */
  #end(
    type: NewEvent['type'],
    makeEvent: (spending: Spending) => NewEvent,
    change: (sql: Sql, seq: number) => Promise<boolean>,
    { keepsHeadroom }: { keepsHeadroom: boolean } = { keepsHeadroom: false },
  ): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.hasNews) return false;
      const { database } = this.#options;
      const isDone = await this.#whileAway(async (isRetry) => {
        // A commit whose answer was lost may have ended the task: then the fence no longer holds.
        if (isRetry && (await this.#hasEnded(type))) return true;
        return inTransaction(database, async (client) => {
          const row = await lockTask(client, this.#owner.taskId);
          if (row === null || row.fence !== this.#owner.fence || row.state !== 'running') {
            throw new LostLease(this.#owner.taskId);
          }
          // Its ancestors' rows too, before the first event locks the user's position.
          if (row.parentId !== null) await lockChain(client, row.id);
          if (!(await this.#hasReadAll(client, row.seq))) return false;
          const isEnd = type === 'task.completed' || type === 'task.failed';
          const voided = isEnd ? await voidApprovals(client, row.id, 'the task has ended') : [];
          const event = makeEvent(spendingOf(row, this.#staged.settle));
          // Before the first event too: it locks the day.
          if (!keepsHeadroom) await releaseReservations(client, this.#owner.taskId, 0, 0);
          const written = await appendStored(client, {
            ...this.#owner,
            events: joinStored(this.#staged.events, toStored([...voided, event])),
            settle: this.#staged.settle,
            then: NO_EVENTS,
          });
          const lastSeq = written.firstSeq + written.events.length - 1;
          if (!(await change(client, lastSeq))) return false;
          if (type !== 'task.queued') await this.#options.onLetGo(client, isEnd ? 'ended' : 'parked');
          return true;
        });
      });
      if (isDone) {
        this.#staged = NOTHING_STAGED;
        this.#options.onGrew();
      }
      return isDone;
    });
  }

  /** Whether nothing came in that the owner must read before it lets go; what is for people's eyes alone is passed over. */
  async #hasReadAll(client: SqlClient, seq: number): Promise<boolean> {
    if (seq === this.#lastSeq) return true;
    const since = await readTaskEvents(client, this.#owner.taskId, this.#lastSeq, 200);
    if (since.length === seq - this.#lastSeq && since.every((event) => FOR_EYES.has(event.type))) {
      this.#lastSeq = seq;
      return true;
    }
    this.#noteNews(seq + 1);
    return false;
  }

  async #hasEnded(type: NewEvent['type']): Promise<boolean> {
    await this.#checkFence();
    const events = await readTaskEvents(this.#options.database.pool, this.#owner.taskId, this.#lastSeq, 100);
    return events.some((one) => one.type === type);
  }

  async #write(request: {
    then: NewEvent[];
    reserve?: Reservation;
    iteration?: number | null;
  }): Promise<Appended> {
    const { database } = this.#options;
    return this.#flush(request, (stored) => appendStored(database.pool, stored));
  }

  async #writeInTransaction(events: NewEvent[], work: (client: SqlClient) => Promise<void>): Promise<void> {
    const { database } = this.#options;
    await this.#flush({ then: events }, (stored) =>
      inTransaction(database, async (client) => {
        if ((await lockTask(client, this.#owner.taskId)) === null) throw new LostLease(this.#owner.taskId);
        await work(client);
        return appendStored(client, stored);
      }),
    );
  }

  /** Writes what is staged with what is new by `write`, and folds the new. */
  async #flush(
    request: { then: NewEvent[]; reserve?: Reservation; iteration?: number | null },
    write: (stored: Parameters<typeof appendStored>[1]) => Promise<Appended>,
  ): Promise<Appended> {
    const { events, settle } = this.#staged;
    const stored = { ...this.#owner, ...request, events, settle, then: toStored(request.then) };
    const written = await this.#whileAway(async (isRetry) => {
      if (!isRetry) return write(stored);
      const found = await this.#findWritten(events, stored.then);
      if (found !== null) return found;
      // A refused reservation writes the first part alone: it is booked, only the rest is asked again.
      const isBooked = events.list.length > 0 && (await this.#findWritten(events, NO_EVENTS)) !== null;
      return write(isBooked ? { ...stored, events: NO_EVENTS, settle: null } : stored);
    });
    this.#staged = NOTHING_STAGED;
    this.#accept(written);
    return written;
  }

  /** Folds what was written and was not folded when it was staged. */
  #accept(written: Appended): void {
    const { firstSeq, lastPosition } = written;
    const count = written.events.length + written.then.length;
    this.#noteNews(firstSeq);
    if (count === 0) return;
    this.#lastSeq = firstSeq + count - 1;
    if (lastPosition !== null) this.#lastPosition = lastPosition;
    written.then.forEach((event, index) => {
      const back = written.then.length - 1 - index;
      this.#fold(event, this.#lastSeq - back, this.#lastPosition - back);
    });
    this.#options.onGrew();
  }

  #noteNews(nextSeq: number): void {
    if (nextSeq <= this.#lastSeq + 1) return;
    this.#missing.push({ from: this.#lastSeq + 1, to: nextSeq - 1 });
    this.#newsThrough = nextSeq - 1;
    this.#lastSeq = nextSeq - 1;
  }

  #fold(event: NewEvent, seq: number, position: number): void {
    this.#options.fold({
      taskId: this.#owner.taskId,
      seq,
      position,
      type: event.type,
      payload: event.payload,
    });
  }

  /** What stands in the journal may be another owner's: only while the fence holds is it this one's. */
  async #checkFence(): Promise<void> {
    const task = await findTask(this.#options.database.pool, this.#options.task.userId, this.#owner.taskId);
    if (task?.fence !== this.#owner.fence) throw new LostLease(this.#owner.taskId);
  }

  /** After a write whose answer was lost: finds its events in the journal, so that they are not written twice. */
  async #findWritten(events: StoredEvents, then: StoredEvents): Promise<Appended | null> {
    const all = joinStored(events, then).list;
    if (all.length === 0) return null;
    await this.#checkFence();
    const { database, task } = this.#options;
    const found = await readTaskEvents(database.pool, task.id, this.#lastSeq, 1_000);
    const same = (index: number, event: NewEvent) =>
      found[index]?.type === event.type &&
      JSON.stringify(found[index].payload) === JSON.stringify(event.payload);
    const start = found.findIndex((_, index) => all.every((event, offset) => same(index + offset, event)));
    const first = found[start];
    if (first === undefined) return null;
    return {
      firstSeq: first.seq,
      lastPosition: first.position + all.length - 1,
      refusal: null,
      events: events.list,
      then: then.list,
    };
  }

  #whileAway<T>(work: (isRetry: boolean) => Promise<T>): Promise<T> {
    return whileAway(work, this.#options);
  }

  /** Writes come one after the other, also those of timers. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}

/** What a task has spent as the row has it, with what is staged. */
function spendingOf(row: TaskRecord, settle: Settlement | null): Spending {
  return toTask({
    ...row,
    tokens: row.tokens + (settle?.tokens ?? 0),
    costNano: row.costNano + (settle?.cost ?? 0),
    isCostKnown: row.isCostKnown && settle?.cost !== null,
  }).spending;
}

class NotUsable extends Error {}
/** Where sub-Vittos stand: nothing that the loop goes by. */
const FOR_EYES = new Set(['subvitto.progress', 'subvitto.vm_acquired', 'subvitto.vm_degraded']);
const NOTHING_STAGED = { events: NO_EVENTS, settle: null };

function addSettlements(a: Settlement | null, b: Settlement): Settlement {
  if (a === null) return b;
  return {
    reservedTokens: a.reservedTokens + b.reservedTokens,
    reservedCost: a.reservedCost + b.reservedCost,
    tokens: a.tokens + b.tokens,
    cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
  };
}
