import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../engine/index.ts';
import { functionModel, turn } from '../../runs/testing/run-harness.ts';
import { createClient } from './testing/api-client.ts';
import { createDoorTestbed, streamedModel, until, type DoorTestbed } from './testing/door-testbed.ts';

const wipe = defineTool({
  name: 'wipe',
  description: 'Wipes.',
  input: z.object({ what: z.string() }),
  domain: 'knowledge',
  risk: 'irreversible',
  tier: 'in-process',
  idempotency: 'once',
  timeoutMs: 10_000,
  run: ({ what }) => Promise.resolve({ status: 'ok', text: `wiped ${what}` }),
});

let door: DoorTestbed;
let token: string;
const clients: Client[] = [];
beforeAll(async () => {
  door = await createDoorTestbed([wipe]);
  token = await door.createToken();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => door.close());

async function connect(
  secret: string,
  mode: 'legacy' | 'auto' = 'auto',
  url = door.server.url,
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${secret}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  clients.push(client);
  return client;
}

async function newestEntry(): Promise<unknown> {
  const owner = createClient(door.server.url, door.bed.owner.token);
  return ((await owner('/api/audit?limit=1')).json['items'] as unknown[])[0];
}

interface Answer {
  isError: boolean;
  text: string;
  data: { task: Record<string, unknown>; [key: string]: unknown };
}
async function call(
  client: Client,
  name: string,
  args: Record<string, unknown>,
  options: Parameters<Client['callTool']>[1] = {},
): Promise<Answer> {
  const result = await client.callTool({ name, arguments: args }, options);
  const first = (result.content as { text?: string }[])[0];
  return {
    isError: result.isError === true,
    text: first?.text ?? '',
    data: result.structuredContent as Answer['data'],
  };
}

const asksToWipe = () =>
  functionModel((_, nth) =>
    nth === 1
      ? turn({ text: 'I wipe it.', calls: [{ id: 'w', tool: 'wipe', args: { what: 'x' } }] })
      : turn({ text: 'It is wiped.' }),
  );

describe.each(['legacy', 'auto'] as const)('to a client of the %s revision', (mode) => {
  it('offers its tools with honest hints', async () => {
    const client = await connect(token, mode);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual([
      'start_task',
      'get_task',
      'list_tasks',
      'send_message',
      'cancel_task',
      'list_approvals',
      'decide_approval',
    ]);
    const hints = Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations]));
    expect(hints['get_task']).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(hints['start_task']).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: true,
    });
    for (const tool of tools) {
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.outputSchema).toMatchObject({ type: 'object' });
    }
    expect(client.getServerVersion()).toMatchObject({ name: 'vitto' });
    expect(client.getInstructions()).toContain('start_task');
  });

  it('starts a task, says what it waits for, takes the decision, and follows it to its end', async () => {
    door.setModel(asksToWipe());
    const client = await connect(token, mode);
    const started = await call(client, 'start_task', { prompt: 'wipe x', title: 'Wiping', wait_seconds: 55 });
    expect(started.data.task).toMatchObject({ state: 'waiting_approval', title: 'Wiping' });
    const id = started.data.task['task_id'] as string;
    expect(started.text).toContain(id);

    const { data } = await call(client, 'list_approvals', {});
    const [approval] = data['approvals'] as Record<string, string>[];
    expect(approval).toMatchObject({ task_id: id, tool: 'wipe', arguments: { what: 'x' }, state: 'pending' });

    const wrong = await call(client, 'decide_approval', {
      approval_id: approval?.['approval_id'],
      decision: 'approved',
      arguments_hash: 'another',
    });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('approval.changed') });
    const decided = await call(client, 'decide_approval', {
      approval_id: approval?.['approval_id'],
      decision: 'approved',
      arguments_hash: approval?.['arguments_hash'],
    });
    expect(decided.data['approval']).toMatchObject({ state: 'approved' });

    const steps: string[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => void steps.push(message ?? '');
    const done = await call(client, 'get_task', { task_id: id, wait_seconds: 55 }, { onprogress });
    expect(done.data.task).toMatchObject({ state: 'completed', result: 'It is wiped.' });
    expect(steps.every((step) => step !== '')).toBe(true);
    const texts = (done.data['steps'] as { text: string }[]).map((step) => step.text);
    expect(texts).toEqual(
      expect.arrayContaining([
        'message (mcp): wipe x',
        'says: I wipe it.',
        'waits for approval',
        expect.stringMatching(/^approval .* approved \(mcp\)$/),
        'wipe ok: wiped x',
        'completed',
      ]),
    );
    expect(done.text).toContain('It is wiped.');
    const after = done.data['next_after'];
    expect((await call(client, 'get_task', { task_id: id, after })).data['steps']).toEqual([]);
  });
});

describe('a client that waits', () => {
  it('is told each step while it waits, when it asks for it', async () => {
    const gate = Promise.withResolvers<void>();
    door.setModel(
      streamedModel(async function* (nth) {
        if (nth === 2) await gate.promise;
        yield* turn(
          nth === 1 ? { text: 'First.', calls: [{ id: 'n', tool: 'nothing', args: {} }] } : { text: 'Last.' },
        );
      }),
    );
    const client = await connect(token);
    const { data } = await call(client, 'start_task', { prompt: 'go' });
    const heard: string[] = [];
    const answer = call(
      client,
      'get_task',
      { task_id: data.task['task_id'], wait_seconds: 55 },
      {
        onprogress: ({ message }) => {
          heard.push(message ?? '');
          if (message?.startsWith('nothing invalid') === true) gate.resolve();
        },
      },
    );
    expect((await answer).data.task).toMatchObject({ state: 'completed', result: 'Last.' });
    expect(heard.at(-1)).toBe('completed');
  });

  it('gets the task as it is when the time is over, and may take its call back', async () => {
    door.setModel(
      streamedModel(async function* () {
        await new Promise(() => undefined);
        yield* turn({});
      }),
    );
    const client = await connect(token);
    const { data } = await call(client, 'start_task', { prompt: 'go', wait_seconds: 1 });
    expect(data.task).toMatchObject({ state: 'running', result: null });
    const id = data.task['task_id'];
    const controller = new AbortController();
    const { signal } = controller;
    const answer = call(client, 'get_task', { task_id: id, wait_seconds: 55 }, { signal });
    const failed = expect(answer).rejects.toThrow();
    controller.abort();
    await failed;
    // Taking the call back does not touch the task; this does.
    const cancelled = await call(client, 'cancel_task', { task_id: id, reason: 'enough' });
    expect(cancelled.data.task).toMatchObject({ state: 'cancelled' });
    expect((await call(client, 'list_tasks', { state: 'active' })).data['tasks']).toEqual([]);
  });

  it('may be answered by another process than the one that it asked first', async () => {
    door.setModel(functionModel(() => turn({ text: 'Done.' })));
    const other = await door.startServer();
    const { data } = await call(await connect(token), 'start_task', { prompt: 'go' });
    const elsewhere = await connect(token, 'legacy', other.url);
    const seen = await call(elsewhere, 'get_task', { task_id: data.task['task_id'], wait_seconds: 55 });
    expect(seen.data.task).toMatchObject({ state: 'completed' });
  });

  it('answers a question by a message', async () => {
    door.setModel(
      functionModel((_, nth) =>
        nth === 1
          ? turn({
              calls: [{ id: 'q', tool: 'ask_user', args: { question: 'Which?', choices: ['a', 'b'] } }],
            })
          : turn({ text: 'Then b.' }),
      ),
    );
    const client = await connect(token);
    const { data, text } = await call(client, 'start_task', { prompt: 'go', wait_seconds: 55 });
    expect(data.task).toMatchObject({
      state: 'waiting_input',
      waiting_for: { kind: 'answer', question: 'Which?', choices: ['a', 'b'] },
    });
    expect(text).toContain('Which?');
    const id = data.task['task_id'];
    expect((await call(client, 'send_message', { task_id: id, text: 'b' })).data).toMatchObject({
      outcome: 'answered',
    });
    const done = await call(client, 'get_task', { task_id: id, wait_seconds: 55 });
    expect(done.data.task).toMatchObject({ state: 'completed', result: 'Then b.' });
    expect(await call(client, 'send_message', { task_id: id, text: 'more' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('task.ended'),
    });
  });
});

describe('a token', () => {
  it('sees only what it may use, and is told why it may not use the rest', async () => {
    const reader = await connect(await door.createToken(['read']));
    const { tools } = await reader.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['get_task', 'list_tasks', 'list_approvals']);
    for (const [name, args] of [
      ['start_task', { prompt: 'x' }],
      ['decide_approval', { approval_id: crypto.randomUUID(), decision: 'approved', arguments_hash: 'h' }],
    ] as const) {
      expect(await call(reader, name, args)).toMatchObject({
        isError: true,
        text: expect.stringContaining('lacks the scope'),
      });
      expect(await newestEntry()).toMatchObject({
        action: 'access.refused',
        via: 'mcp',
        actorId: door.bed.owner.userId,
        objectType: 'tool',
        objectId: name,
        detail: { code: 'sign-in.scope' },
      });
    }
    const runner = await connect(await door.createToken(['run']));
    expect((await runner.listTools()).tools.map((tool) => tool.name)).toEqual([
      'start_task',
      'send_message',
      'cancel_task',
    ]);
  });

  it('of somebody who may only look is for looking, whatever its scopes', async () => {
    const sql = door.bed.database.pool;
    const setRole = (role: string) =>
      sql.query('update vitto_users set role = $2 where id = $1', [door.bed.stranger.userId, role]);
    await setRole('viewer');
    const client = await connect(door.bed.stranger.token);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['get_task', 'list_tasks', 'list_approvals']);
    expect(await call(client, 'start_task', { prompt: 'x' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('sign-in.read-only'),
    });
    await setRole('member');
  });

  it("finds nothing of another user's", async () => {
    door.setModel(asksToWipe());
    const mine = await connect(token);
    const { data } = await call(mine, 'start_task', { prompt: 'wipe', wait_seconds: 55 });
    const id = data.task['task_id'];
    const approvals = (await call(mine, 'list_approvals', {})).data['approvals'] as Record<string, string>[];
    const theirs = await connect(door.bed.stranger.token);
    for (const [name, args] of [
      ['get_task', { task_id: id, wait_seconds: 55 }],
      ['send_message', { task_id: id, text: 'x' }],
      ['cancel_task', { task_id: id }],
      [
        'decide_approval',
        {
          approval_id: approvals[0]?.['approval_id'],
          decision: 'approved',
          arguments_hash: approvals[0]?.['arguments_hash'],
        },
      ],
    ] as const) {
      expect(await call(theirs, name, args)).toMatchObject({
        isError: true,
        text: expect.stringContaining('not-found'),
      });
    }
    expect((await call(theirs, 'list_tasks', {})).data['tasks']).toEqual([]);
    expect((await call(theirs, 'list_approvals', {})).data['approvals']).toEqual([]);
    expect((await call(mine, 'get_task', { task_id: id })).data.task).toMatchObject({
      state: 'waiting_approval',
    });
    await call(mine, 'cancel_task', { task_id: id });
  });

  it('is needed, as a header and not as a cookie', async () => {
    const nobody = createClient(door.server.url);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const headers of [{}, { cookie: 'vitto_session=x' }, { authorization: 'Bearer vitto_no' }]) {
      const answer = await nobody('/mcp', { json: ping, headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(answer.json).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { data: { code: 'sign-in.required' } },
      });
    }
  });
});

describe('a request that is none', () => {
  const headers = { accept: 'application/json, text/event-stream' };

  it('comes from another site, or to a name that is not ours', async () => {
    const mine = createClient(door.server.url, token);
    const json = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const foreign = await mine('/mcp', { json, headers: { ...headers, origin: 'https://evil.test' } });
    expect(foreign.status).toBe(403);
    const get = await mine('/mcp', { headers: { origin: 'https://evil.test', accept: 'text/event-stream' } });
    expect(get.status).toBe(403);
    const rebound = await door.server.app.inject({
      method: 'POST',
      url: '/mcp',
      payload: json,
      headers: { ...headers, host: 'evil.test', authorization: `Bearer ${token}` },
    });
    expect(rebound.statusCode).toBe(421);
  });

  it('is refused as JSON-RPC has it', async () => {
    const mine = createClient(door.server.url, token);
    const broken = await mine('/mcp', { body: '{"jsonrpc":', headers });
    expect([broken.status, broken.json]).toMatchObject([400, { error: { code: -32_700 } }]);
    const large = await mine('/mcp', { json: { text: 'x'.repeat(1_100_000) }, headers });
    expect([large.status, large.json]).toMatchObject([413, { jsonrpc: '2.0', id: null }]);
    for (const json of [
      null,
      [],
      7,
      'text',
      { jsonrpc: '1.0' },
      { jsonrpc: '2.0', id: {}, method: 'ping' },
    ]) {
      const answer = await mine('/mcp', { json, headers });
      expect(answer.status, JSON.stringify(json)).toBeGreaterThanOrEqual(400);
      expect(answer.status, JSON.stringify(json)).toBeLessThan(500);
    }
    for (const method of ['GET', 'DELETE']) {
      expect((await mine('/mcp', { method, headers })).status).toBe(405);
    }
  });

  it('wants to be done once: an answer that is a stream cannot be given again', async () => {
    const mine = createClient(door.server.url, token);
    const json = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'start_task', arguments: { prompt: 'once' } },
    };
    for (let i = 0; i < 2; i += 1) {
      const answer = await mine('/mcp', { json, headers: { ...headers, 'idempotency-key': 'mcp-once' } });
      expect([answer.status, answer.json]).toMatchObject([
        422,
        { jsonrpc: '2.0', error: { data: { code: 'mcp.not-repeatable' } } },
      ]);
    }
  });

  it('has arguments that a tool does not take', async () => {
    const client = await connect(token);
    for (const [name, args] of [
      ['start_task', {}],
      ['start_task', { prompt: '' }],
      ['start_task', { prompt: 'x', unknown: 1 }],
      ['start_task', { prompt: 'x', wait_seconds: 56 }],
      ['start_task', { prompt: 'x', budget: { maxTokens: 10_000_000 } }],
      ['start_task', { prompt: 'x'.repeat(300_000) }],
      ['get_task', { task_id: 'nothing' }],
      ['get_task', { task_id: crypto.randomUUID(), after: -1 }],
      ['list_tasks', { cursor: 'x' }],
    ] as const) {
      const answer = await call(client, name, args);
      expect(answer.isError, JSON.stringify(args).slice(0, 80)).toBe(true);
    }
    await expect(call(client, 'nothing', {})).rejects.toThrow(/not found/);
  });
});

it('leaves an entry in the audit trail of what was decided through it', async () => {
  door.setModel(asksToWipe());
  const client = await connect(token);
  const { data } = await call(client, 'start_task', { prompt: 'wipe', wait_seconds: 55 });
  const approvals = (await call(client, 'list_approvals', {})).data['approvals'] as Record<string, string>[];
  const [approval] = approvals;
  await call(client, 'decide_approval', {
    approval_id: approval?.['approval_id'],
    decision: 'refused',
    arguments_hash: approval?.['arguments_hash'],
    note: 'not that',
  });
  await until(async () => {
    const { task } = (await call(client, 'get_task', { task_id: data.task['task_id'] })).data;
    return task['state'] === 'completed';
  });
  const entries = await door.bed.database.pool.query(
    "select action, via from vitto_audit_events where action = 'approval.decided' order by seq desc limit 1",
  );
  expect(entries.rows).toEqual([{ action: 'approval.decided', via: 'mcp' }]);
});
