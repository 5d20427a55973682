import type {
  Budget,
  Complexity,
  EstimatedDuration,
  Failure,
  NewEvent,
  Task,
  TaskKind,
  TaskState,
  Tier,
  WaitingFor,
} from '@vitto/contracts';
import type { Sql } from '../../kernel/database/database.ts';

/** A task's row as the engine and the runs use it. Money in billionths of a dollar, times in ISO 8601. */
export interface TaskRecord {
  id: string;
  userId: string;
  parentId: string | null;
  rootId: string;
  depth: number;
  kind: TaskKind;
  role: string | null;
  conversationId: string | null;
  title: string;
  state: TaskState;
  waitingFor: WaitingFor | null;
  tier: Tier | null;
  complexity: Complexity;
  estimatedDuration: EstimatedDuration;
  allowedPaths: string[];
  model: string | null;
  /** Of a sub-Vitto: the round of its parent, its index in it, those whose results it waits for, the tools it may have. */
  round: number | null;
  index: number | null;
  dependsOn: string[];
  tools: string[] | null;
  acceptanceCheck: string | null;
  isTainted: boolean;
  seq: number;
  fence: number;
  deaths: number;
  maxIterations: number;
  maxTokens: number | null;
  maxCostNano: number | null;
  maxDurationMs: number | null;
  iterations: number;
  tokens: number;
  reservedTokens: number;
  costNano: number;
  reservedCostNano: number;
  isCostKnown: boolean;
  /** What it holds itself of the reservations: for its closing turn, and for the call under way. */
  ownReservedTokens: number;
  ownReservedCostNano: number;
  belowTokens: number;
  belowReservedTokens: number;
  belowCostNano: number;
  belowReservedCostNano: number;
  belowMaxTokens: number | null;
  belowMaxCostNano: number | null;
  ranMs: number;
  result: string | null;
  isSuccess: boolean | null;
  error: Failure | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
}

export const TASK_COLUMNS = `id, user_id as "userId", parent_id as "parentId", root_id as "rootId", depth, kind, role,
  conversation_id as "conversationId", title, state, waiting_for as "waitingFor", tier, complexity,
  estimated_duration as "estimatedDuration", allowed_paths as "allowedPaths", model,
  round, index, depends_on as "dependsOn", tools, acceptance_check as "acceptanceCheck", is_tainted as "isTainted", seq,
  fence::float8 as fence, deaths, max_iterations as "maxIterations", max_tokens::float8 as "maxTokens",
  max_cost_nano::float8 as "maxCostNano", max_duration_ms::float8 as "maxDurationMs", iterations,
  tokens::float8 as tokens, reserved_tokens::float8 as "reservedTokens", cost_nano::float8 as "costNano",
  reserved_cost_nano::float8 as "reservedCostNano", is_cost_known as "isCostKnown",
  own_reserved_tokens::float8 as "ownReservedTokens", own_reserved_cost_nano::float8 as "ownReservedCostNano",
  below_tokens::float8 as "belowTokens", below_reserved_tokens::float8 as "belowReservedTokens",
  below_cost_nano::float8 as "belowCostNano", below_reserved_cost_nano::float8 as "belowReservedCostNano",
  below_max_tokens::float8 as "belowMaxTokens", below_max_cost_nano::float8 as "belowMaxCostNano",
  (ran_ms + coalesce(extract(epoch from clock_timestamp() - running_since) * 1000, 0))::float8 as "ranMs",
  result, is_success as "isSuccess", error, created_at as "createdAt", started_at as "startedAt", ended_at as "endedAt"`;

export interface NewTask {
  id: string;
  userId: string;
  parentId: string | null;
  rootId: string;
  depth: number;
  kind: TaskKind;
  role: string | null;
  conversationId: string | null;
  title: string;
  tier: Tier | null;
  complexity: Complexity;
  estimatedDuration: EstimatedDuration;
  allowedPaths: string[];
  model: string | null;
  /** It has read text from outside before it begins: what it is told comes from a task that has. */
  isTainted?: boolean;
  /** Where it stands among the sub-Vittos of its parent. */
  place?: {
    round: number;
    index: number;
    dependsOn: string[];
    tools: string[] | null;
    acceptanceCheck: string | null;
  };
  budget: Budget;
}

/** Inserts a task in state `queued`; its first events are appended in the same transaction. */
export async function insertTask(sql: Sql, task: NewTask): Promise<void> {
  await insertTasks(sql, [task]);
}

/** Inserts tasks as `insertTask` does, at least one, in one statement: whoever deploys a hundred waits once. */
export async function insertTasks(sql: Sql, tasks: readonly NewTask[]): Promise<void> {
  const values: unknown[] = [];
  const rows = tasks.map((task) => {
    const places = toRow(task).map((value) => `$${values.push(value)}`);
    return `('queued', ${places.join(', ')})`;
  });
  await sql.query(
    `insert into vitto_tasks (state, id, user_id, parent_id, root_id, depth, kind, role, conversation_id, title, tier,
       complexity, estimated_duration, allowed_paths, model, max_iterations, max_tokens, max_cost_nano, max_duration_ms,
       is_tainted, round, index, depends_on, tools, acceptance_check)
     values ${rows.join(', ')}`,
    values,
  );
}

function toRow(task: NewTask): unknown[] {
  const { budget, place } = task;
  return [
    task.id,
    task.userId,
    task.parentId,
    task.rootId,
    task.depth,
    task.kind,
    task.role,
    task.conversationId,
    task.title,
    task.tier,
    task.complexity,
    task.estimatedDuration,
    JSON.stringify(task.allowedPaths),
    task.model,
    budget.maxIterations,
    budget.maxTokens,
    budget.maxCostUsd === null ? null : Math.round(budget.maxCostUsd * 1e9),
    budget.maxDurationMs,
    task.isTainted ?? false,
    place?.round ?? null,
    place?.index ?? null,
    place?.dependsOn ?? [],
    place?.tools ?? null,
    place?.acceptanceCheck ?? null,
  ];
}

/** The first event of a task's journal. */
export function taskCreated(task: NewTask): NewEvent {
  const { place } = task;
  return {
    type: 'task.created',
    payload: {
      kind: task.kind,
      depth: task.depth,
      parentTaskId: task.parentId,
      ...(place === undefined
        ? {}
        : {
            rootTaskId: task.rootId,
            round: place.round,
            index: place.index,
            dependsOn: place.dependsOn,
          }),
      conversationId: task.conversationId,
      role: task.role,
      title: task.title,
      tier: task.tier,
      complexity: task.complexity,
      estimatedDuration: task.estimatedDuration,
      budget: task.budget,
    },
  };
}

/** A user's task; `null` when there is none or it is somebody else's. */
export async function findTask(sql: Sql, userId: string, taskId: string): Promise<TaskRecord | null> {
  const result = await sql.query(`select ${TASK_COLUMNS} from vitto_tasks where id = $1 and user_id = $2`, [
    taskId,
    userId,
  ]);
  return (result.rows[0] as TaskRecord | undefined) ?? null;
}

/** A task by id, whoever's it is, locked for a change of state. For the engine, never for a request. */
export async function lockTask(sql: Sql, taskId: string): Promise<TaskRecord | null> {
  const result = await sql.query(`select ${TASK_COLUMNS} from vitto_tasks where id = $1 for no key update`, [
    taskId,
  ]);
  return (result.rows[0] as TaskRecord | undefined) ?? null;
}

/** The task of a conversation that has not ended, locked; the caller holds the conversation's row. */
export async function lockActiveTask(sql: Sql, conversationId: string): Promise<TaskRecord | null> {
  const result = await sql.query(
    `select ${TASK_COLUMNS} from vitto_tasks
     where conversation_id = $1 and parent_id is null and state not in ('completed', 'failed', 'cancelled')
     for no key update`,
    [conversationId],
  );
  return (result.rows[0] as TaskRecord | undefined) ?? null;
}

/** A page of a user's tasks, newest first, after the cursor's (createdAt, id). */
export async function listTasks(
  sql: Sql,
  userId: string,
  query: {
    states: TaskState[] | null;
    conversationId: string | null;
    rootId?: string | null;
    before: { at: string; id: string } | null;
    limit: number;
  },
): Promise<TaskRecord[]> {
  const result = await sql.query(
    `select ${TASK_COLUMNS} from vitto_tasks
     where user_id = $1 and ($2::text[] is null or state = any($2)) and ($3::uuid is null or conversation_id = $3)
       and (created_at, id) < (coalesce($4::timestamptz, 'infinity'), coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
       and ($7::uuid is null or root_id = $7)
     order by created_at desc, id desc limit $6`,
    [
      userId,
      query.states,
      query.conversationId,
      query.before?.at ?? null,
      query.before?.id ?? null,
      query.limit,
      query.rootId ?? null,
    ],
  );
  return result.rows as TaskRecord[];
}

/** How many of a user's tasks are in each state. */
export async function countTasks(sql: Sql, userId: string): Promise<Record<string, number>> {
  const result = await sql.query(
    'select state, count(*)::int as count from vitto_tasks where user_id = $1 group by state',
    [userId],
  );
  return Object.fromEntries(
    (result.rows as { state: string; count: number }[]).map((row) => [row.state, row.count]),
  );
}

/** A task as the API shows it. */
export function toTask(record: TaskRecord): Task {
  return {
    id: record.id,
    conversationId: record.conversationId,
    parentId: record.parentId,
    rootId: record.rootId,
    depth: record.depth,
    round: record.round,
    index: record.index,
    dependsOn: record.dependsOn,
    kind: record.kind,
    role: record.role,
    state: record.state,
    title: record.title,
    tier: record.tier,
    complexity: record.complexity,
    estimatedDuration: record.estimatedDuration,
    budget: {
      maxIterations: record.maxIterations,
      maxTokens: record.maxTokens,
      maxCostUsd: record.maxCostNano === null ? null : record.maxCostNano / 1e9,
      maxDurationMs: record.maxDurationMs,
    },
    spending: {
      iterations: record.iterations,
      tokens: record.tokens,
      costUsd: record.isCostKnown ? record.costNano / 1e9 : null,
      durationMs: Math.round(record.ranMs),
    },
    spentBelow: {
      tokens: record.belowTokens,
      costUsd: record.isCostKnown ? record.belowCostNano / 1e9 : null,
    },
    waitingFor: record.waitingFor,
    tainted: record.isTainted,
    result: record.result,
    success: record.isSuccess,
    error: record.error,
    lastSeq: record.seq,
    createdAt: record.createdAt.toISOString(),
    startedAt: record.startedAt?.toISOString() ?? null,
    endedAt: record.endedAt?.toISOString() ?? null,
  };
}
