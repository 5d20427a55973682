import pg from 'pg';
import { v7 as newId } from 'uuid';

/** Rows as the journal has them, written in bulk: a bench of the pages is not one of the engine. */
export interface Seeded {
  conversationId: string;
  longTaskId: string;
}

const USAGE = {
  inputTokens: 1200,
  cachedInputTokens: 800,
  cacheWriteTokens: 0,
  outputTokens: 90,
  reasoningTokens: 0,
};
const SPENDING = { iterations: 24, tokens: 31_000, costUsd: 0.12, durationMs: 90_000 };
/** Turns with a call each that one task of the conversation has: with its frame about a hundred events. */
const TURNS_A_TASK = 24;

interface SeedEvent {
  type: string;
  payload: unknown;
}

/** A conversation of `conversationEvents`, a task of `taskEvents` and `waitingTasks` that wait, all of the owner. */
export async function seedPages(
  databaseUrl: string,
  sizes: { conversationEvents: number; taskEvents: number; waitingTasks: number },
): Promise<Seeded> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'vitto-bench-seed' });
  await client.connect();
  try {
    const seed = new Seed(client, await readOwner(client));
    await client.query('begin');
    const conversationId = await seed.addConversation('a long conversation');
    while (seed.written < sizes.conversationEvents)
      await seed.addTask(conversationId, taskEvents(conversationId, TURNS_A_TASK));
    const longTaskId = await seed.addTask(
      await seed.addConversation('a long task'),
      taskEvents(null, Math.ceil(sizes.taskEvents / 4)),
    );
    await seed.addWaiting(sizes.waitingTasks);
    await seed.finish();
    await client.query('commit');
    await client.query('analyze');
    return { conversationId, longTaskId };
  } finally {
    await client.end();
  }
}

async function readOwner(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>("select id from vitto_users where role = 'owner'");
  return rows[0]?.id ?? '';
}

class Seed {
  readonly #client: pg.Client;
  readonly #userId: string;
  #position = 0;
  #at = Date.now() - 24 * 3600_000;
  written = 0;

  constructor(client: pg.Client, userId: string) {
    this.#client = client;
    this.#userId = userId;
  }

  async addConversation(title: string): Promise<string> {
    const id = newId();
    await this.#client.query('insert into vitto_conversations (id, user_id, title) values ($1, $2, $3)', [
      id,
      this.#userId,
      title,
    ]);
    return id;
  }

  async addTask(conversationId: string, events: SeedEvent[]): Promise<string> {
    const id = newId();
    await this.#client.query(
      `insert into vitto_tasks (id, user_id, root_id, depth, kind, conversation_id, title, state, complexity,
         estimated_duration, max_iterations, seq, iterations, tokens, result, is_success, created_at, started_at, ended_at)
       values ($1, $2, $1, 0, 'chat', $3, 'mend the tests', 'completed', 'moderate', 'medium', 50, $4, 24, 31000, 'Done.',
         true, now(), now(), now())`,
      [id, this.#userId, conversationId, events.length],
    );
    for (let from = 0; from < events.length; from += 5_000)
      await this.#insert(id, conversationId, events.slice(from, from + 5_000), from);
    this.written += events.length;
    return id;
  }

  async addWaiting(count: number): Promise<void> {
    await this.#client.query(
      `insert into vitto_tasks (id, user_id, root_id, depth, kind, title, state, waiting_for, complexity,
         estimated_duration, max_iterations, created_at, started_at)
       select id, $1, id, 0, 'chat', 'a task that waits, number ' || n, 'waiting_input',
         '{"kind":"input","callId":"c","question":"Which one?"}', 'simple', 'short', 50,
         now() - n * interval '1 second', now() - n * interval '1 second'
       from (select gen_random_uuid() as id, n from generate_series(1, $2) n) as made`,
      [this.#userId, count],
    );
  }

  async finish(): Promise<void> {
    await this.#client.query(
      `insert into vitto_journal_positions (user_id, position) values ($1, $2)
       on conflict (user_id) do update set position = excluded.position`,
      [this.#userId, this.#position],
    );
  }

  async #insert(taskId: string, conversationId: string, events: SeedEvent[], from: number): Promise<void> {
    const base = this.#position;
    await this.#client.query(
      `insert into vitto_task_events (task_id, seq, user_id, position, conversation_id, type, payload, at)
       select $1, $5 + n, $2, $4 + n, $3, type, payload, to_timestamp($6 + n * 0.2)
       from unnest($7::text[], $8::json[]) with ordinality as e(type, payload, n)`,
      [
        taskId,
        this.#userId,
        conversationId,
        base,
        from,
        this.#at / 1000,
        events.map((event) => event.type),
        events.map((event) => JSON.stringify(event.payload)),
      ],
    );
    this.#position += events.length;
    this.#at += events.length * 200;
  }
}

function taskEvents(conversationId: string | null, turns: number): SeedEvent[] {
  const frame = {
    kind: 'chat',
    depth: 0,
    parentTaskId: null,
    conversationId,
    role: null,
    title: 'mend the tests',
  };
  const budget = { maxIterations: 50, maxTokens: 500_000, maxCostUsd: null, maxDurationMs: null };
  return [
    {
      type: 'user.message',
      payload: { messageId: newId(), text: 'Mend the tests of my project.', source: 'web' },
    },
    {
      type: 'task.created',
      payload: { ...frame, tier: null, complexity: 'moderate', estimatedDuration: 'medium', budget },
    },
    { type: 'task.started', payload: { worker: 'bench', fence: 1 } },
    ...Array.from({ length: turns }, (_, index) => turnEvents(index + 1)).flat(),
    { type: 'task.completed', payload: { result: 'All tests pass.', success: true, spending: SPENDING } },
  ];
}

const ANSWER = `I look at the next file. Two things stand out:

1. \`parse\` takes **any** text, also the empty one
2. the caller never checks what comes back

\`\`\`ts
export function parse(text: string): Header | null {
  return text === '' ? null : new Header(text);
}
\`\`\`
`;
const OUTPUT = Array.from(
  { length: 20 },
  (_, line) => `ok ${line + 1} - header ${line} is read as it should be`,
).join('\n');

function turnEvents(turn: number): SeedEvent[] {
  const callId = `call-${turn}`;
  const call = { callId, turn, tool: 'run_command', tier: 'vm' };
  const content = [
    { type: 'text', text: ANSWER },
    { type: 'tool-call', toolCallId: callId, toolName: 'run_command', input: { command: 'npm test' } },
  ];
  return [
    { type: 'agent.iteration', payload: { iteration: turn, turn, inputSeq: 1 } },
    {
      type: 'agent.turn_completed',
      payload: {
        turn,
        attempt: 1,
        model: 'bench/model',
        message: { role: 'assistant', content },
        finishReason: 'tool-calls',
        usage: USAGE,
        costUsd: 0.004,
        durationMs: 1800,
      },
    },
    {
      type: 'tool.starting',
      payload: {
        ...call,
        arguments: { command: 'npm test' },
        idempotency: 'once',
        risk: 'write',
        domain: 'code_execution',
        decision: { verdict: 'act', reason: 'can be undone' },
      },
    },
    { type: 'tool.called', payload: { ...call, status: 'ok', text: OUTPUT, durationMs: 900 } },
  ];
}
