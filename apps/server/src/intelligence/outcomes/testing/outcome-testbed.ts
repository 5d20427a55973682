import type { ActionDomain, NewEvent, Outcome, ToolStatus } from '@vitto/contracts';
import { appendEvents, endTask, insertConversation } from '../../../engine/index.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { createTestDatabase } from '../../../kernel/database/testing.ts';
import { inTransaction } from '../../../kernel/database/transaction.ts';
import { newId } from '../../../kernel/ids.ts';
import { silentLogger } from '../../../kernel/logger.ts';
import { WakeQueue } from '../../../kernel/queue.ts';
import { OutcomeFeedbackService, type OutcomeFeedbackDependencies } from '../outcome-feedback-service.ts';

/** A database with two users, the real queue, and tasks that end as a test says. */
export async function createOutcomeTestbed() {
  const { database, url, drop } = await createTestDatabase();
  const queue = new WakeQueue({ url, logger: silentLogger, isWorker: true });
  await queue.start();
  const userId = await insertUser(database, 'Ana');
  const strangerId = await insertUser(database, 'Ben');
  const services: OutcomeFeedbackService[] = [];
  return {
    database,
    queue,
    userId,
    strangerId,
    insertUser: (name: string) => insertUser(database, name),
    createService: (more: Partial<OutcomeFeedbackDependencies> = {}) => {
      const service = new OutcomeFeedbackService({ database, queue, logger: silentLogger, ...more });
      services.push(service);
      return service;
    },
    createConversation: async () => {
      const id = newId();
      await insertConversation(database.pool, { id, userId, title: 'talk', allowedPaths: [] });
      return id;
    },
    startTask: (more: TaskOptions = {}) => insertRunning(database, { userId, ...more }),
    endTask: async (end: End = COMPLETED, more: TaskOptions = {}) => {
      const id = await insertRunning(database, { userId, ...more });
      await endOf(database, id, end);
      return id;
    },
    countOutcomes: async (taskId: string): Promise<number> => {
      const result = await database.pool.query(
        'select count(*)::int from vitto_outcomes where task_id = $1',
        [taskId],
      );
      return (result.rows[0] as { count: number }).count;
    },
    close: async () => {
      for (const service of services) await service.stop();
      await queue.stop();
      await drop();
    },
  };
}

type End = Parameters<typeof endTask>[2];
export const COMPLETED: End = { state: 'completed', result: 'done', success: true };

interface TaskOptions {
  userId?: string;
  conversationId?: string | null;
  parent?: { id: string; rootId: string };
  events?: NewEvent[];
}

async function insertUser(database: Database, name: string): Promise<string> {
  const id = newId();
  await database.pool.query("insert into vitto_users (id, name, role) values ($1, $2, 'member')", [id, name]);
  return id;
}

async function insertRunning(database: Database, options: TaskOptions): Promise<string> {
  const id = newId();
  const { parent, events = [] } = options;
  await database.pool.query(
    `insert into vitto_tasks (id, user_id, parent_id, root_id, depth, kind, role, conversation_id, title, state, complexity,
       estimated_duration, max_iterations, fence, lease_holder, lease_until, started_at, iterations, tokens, cost_nano, ran_ms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'a task', 'running', 'moderate', 'short', 50, 1, 'test',
       now() + interval '1 hour', now(), 3, 1200, 2500000, 4200)`,
    [
      id,
      options.userId,
      parent?.id ?? null,
      parent?.rootId ?? id,
      parent === undefined ? 0 : 1,
      parent === undefined ? 'chat' : 'subvitto',
      parent === undefined ? null : 'researcher',
      options.conversationId ?? null,
    ],
  );
  if (events.length > 0) await appendEvents(database.pool, { taskId: id, fence: 1, events });
  return id;
}

function endOf(database: Database, taskId: string, end: End): Promise<void> {
  return inTransaction(database, async (client) => {
    if (!(await endTask(client, { taskId, fence: 1, seq: null }, end)))
      throw new Error('the task did not end');
  });
}

let calls = 0;
/** The events of a call that ran; without a status, of one that its end caught in the middle. */
export function ranCall(tool: string, domain: ActionDomain, status: ToolStatus | null = 'ok'): NewEvent[] {
  calls += 1;
  const call = { callId: `call-${calls}`, turn: 1, tool, tier: 'in-process' as const };
  const starting: NewEvent = {
    type: 'tool.starting',
    payload: {
      ...call,
      arguments: {},
      idempotency: 'pure',
      risk: 'read',
      domain,
      decision: { verdict: 'act', reason: 'a test' },
    },
  };
  return status === null ? [starting] : [starting, calledWith(call, status)];
}

/** The event of a call that was turned down before it ran. */
export function turnedDown(tool: string, status: 'refused' | 'invalid'): NewEvent {
  calls += 1;
  return calledWith({ callId: `call-${calls}`, turn: 1, tool, tier: 'in-process' }, status);
}

function calledWith(
  call: { callId: string; turn: number; tool: string; tier: 'in-process' },
  status: ToolStatus,
): NewEvent {
  return { type: 'tool.called', payload: { ...call, status, text: '', durationMs: 1 } };
}

/** A turn that a model answered. */
export function answeredBy(model: string, turn: number): NewEvent {
  const usage = {
    inputTokens: 1,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 1,
    reasoningTokens: 0,
  };
  return {
    type: 'agent.turn_completed',
    payload: {
      turn,
      attempt: 1,
      model,
      message: { role: 'assistant', content: [] },
      finishReason: 'stop',
      usage,
      costUsd: 0,
      durationMs: 1,
    },
  };
}

/** The part of an outcome that a verdict changes. */
export const verdictOf = ({ success, verdictSource }: Outcome) => ({ success, verdictSource });
