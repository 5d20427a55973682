import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { randomUUID } from 'node:crypto';
import type {
  Approval,
  AuditEntry,
  AuditVerification,
  ComponentStatus,
  EventEnvelope,
  NewEvent,
  SkillWithText,
  Task,
} from '@vitto/contracts';
import { FakeMcpServers } from './fake-mcp-servers.ts';
import { FakeSandboxes } from './fake-sandboxes.ts';
import type { Handler, Received } from './handler.ts';

/**
 * A server that speaks the contract and does what a test tells it: it keeps a journal, streams it with positions as
 * ids, resumes by `Last-Event-ID`, and cuts connections where it is told to.
 */
export class FakeServer {
  readonly received: Received[] = [];
  readonly events: EventEnvelope[] = [];
  readonly tasks: Task[] = [];
  readonly approvals: Approval[] = [];
  /** Positions after which the connection is cut, once each. */
  readonly cuts = new Set<number>();
  readonly skills: SkillWithText[] = [];
  readonly audit: AuditEntry[] = [];
  readonly components: ComponentStatus[] = [];
  readonly mcp = new FakeMcpServers();
  readonly sandboxes = new FakeSandboxes();
  /** Who is signed in. */
  readonly userId = '22222222-0000-7000-8000-000000000002';
  verification: AuditVerification | null = null;
  /** What the task does once it has been asked for. */
  onTask: (taskId: string) => void = () => {};
  onDecision: (approval: Approval) => void = () => {};
  onMessage: (message: Received) => void = () => {};
  /** Only this token is let in, when there is one. */
  token: string | null = null;
  #server: Server | null = null;
  #streams = new Map<ServerResponse, string | null>();
  #port = 0;

  async start(): Promise<this> {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    await new Promise<void>((resolve) => this.#server?.listen(this.#port, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
    return this;
  }

  async stop(): Promise<void> {
    this.#streams.clear();
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    this.#server?.closeAllConnections();
    await closed;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  emit(taskId: string, event: NewEvent): EventEnvelope {
    const seq = this.events.filter((other) => other.taskId === taskId).length + 1;
    const position = this.events.length + 1;
    const envelope = { position, taskId, seq, at: new Date().toISOString(), ...event } as EventEnvelope;
    this.events.push(envelope);
    for (const [stream, only] of this.#streams) {
      if (only === null || only === taskId) this.#write(stream, envelope);
    }
    return envelope;
  }

  addTask(change: Partial<Task> = {}): Task {
    const task = { ...emptyTask(), ...change };
    this.tasks.push(task);
    return task;
  }

  requests(method: string, path: string): Received[] {
    return this.received.filter((one) => one.method === method && one.path.startsWith(path));
  }

  #write(stream: ServerResponse, event: EventEnvelope): void {
    if (stream.destroyed) return;
    stream.write(`id: ${event.position}\ndata: ${JSON.stringify(event)}\n\n`);
    if (!this.cuts.delete(event.position)) return;
    this.#streams.delete(stream);
    // What was written goes out before the cut, half of another event with it.
    stream.write(`id: ${event.position + 1}\ndata: {"posi`, () => stream.destroy());
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const hasBody = request.headers['content-type'] !== undefined;
    const body = hasBody ? ((await readJson(request)) as Record<string, unknown>) : {};
    const received = { method: request.method ?? 'GET', path: url.pathname, body, headers: request.headers };
    this.received.push(received);
    if (this.token !== null && request.headers.authorization !== `Bearer ${this.token}`) {
      return sendJson(response, 401, problem(401, 'auth.required'));
    }
    const streamOf = /^\/api(?:\/tasks\/([^/]+))?\/events$/.exec(url.pathname);
    if (streamOf !== null) return this.#sendEvents(request, response, url, streamOf[1] ?? null);
    if (/^\/api\/sandbox\/[^/]+\/exec$/.test(url.pathname)) return this.sandboxes.sendCommand(response);
    for (const [route, handler] of this.#routes()) {
      const match = route.exec(`${received.method} ${received.path}`);
      if (match === null) continue;
      const answer = handler(received, match[1] ?? '');
      return sendJson(response, answer.status, answer.body);
    }
    sendJson(response, 404, problem(404, 'route.not-found'));
  }

  #sendEvents(request: IncomingMessage, response: ServerResponse, url: URL, taskId: string | null): void {
    const mine = this.events.filter((event) => taskId === null || event.taskId === taskId);
    if (request.headers.accept !== 'text/event-stream') {
      const after = Number(url.searchParams.get('after') ?? 0);
      const limit = Number(url.searchParams.get('limit') ?? 500);
      const items = mine.filter((event) => event.position > after).slice(0, limit);
      return sendJson(response, 200, { items, lastPosition: this.events.length });
    }
    const last = Number(request.headers['last-event-id'] ?? 0);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 20\n\n');
    this.#streams.set(response, taskId);
    response.on('close', () => this.#streams.delete(response));
    if (last > this.events.length) {
      const lastPosition = this.events.length;
      response.write(`event: resync\nid: ${lastPosition}\ndata: ${JSON.stringify({ lastPosition })}\n\n`);
      return;
    }
    for (const event of mine) {
      if (event.position > last && this.#streams.has(response)) this.#write(response, event);
    }
  }

  #routes(): [RegExp, Handler][] {
    return [
      [/^POST \/api\/tasks$/, (request) => this.#createTask(request)],
      [/^POST \/api\/conversations\/([^/]+)\/messages$/, (request) => this.#takeMessage(request)],
      [/^GET \/api\/tasks$/, () => ok({ items: this.tasks, nextCursor: null })],
      [
        /^GET \/api\/tasks\/([^/]+)$/,
        (_, id) =>
          found(
            this.tasks.find((task) => task.id === id),
            'task',
          ),
      ],
      [/^GET \/api\/skills$/, () => ok({ items: this.skills })],
      [/^PUT \/api\/skills\/([^/]+)$/, (request, name) => this.#putSkill(request, name)],
      [/^DELETE \/api\/skills\/([^/]+)$/, (_, name) => this.#removeSkill(name)],
      [/^POST \/api\/tasks\/([^/]+)\/cancel$/, (_, id) => this.#cancelTask(id)],
      [
        /^GET \/api\/approvals$/,
        () => ok({ items: this.approvals.filter(({ state }) => state === 'pending'), nextCursor: null }),
      ],
      [/^POST \/api\/approvals\/([^/]+)\/decision$/, (request, id) => this.#decide(request, id)],
      ...this.mcp.routes(),
      ...this.sandboxes.routes(),
      [/^GET \/api\/audit$/, () => ok({ items: this.audit, nextCursor: null })],
      [/^GET \/api\/audit\/verify$/, () => found(this.verification ?? undefined, 'verification')],
      [
        /^GET \/api\/session$/,
        () => ok({ id: this.userId, name: 'owner', role: 'owner', csrfToken: null, lastPosition: 0 }),
      ],
      [
        /^GET \/api\/system$/,
        () =>
          ok({
            version: '0.1.0',
            startedAt: new Date().toISOString(),
            roles: ['server'],
            components: this.components,
            models: [],
            tasks: {},
            processes: [],
            queue: { queued: 0, oldestQueuedMs: null, running: 0, waiting: 0 },
            readAt: new Date().toISOString(),
            database: {
              version: '18',
              kind: 'embedded',
              bytes: 0,
              connections: 1,
              maxConnections: 100,
              roundTripMs: 1,
            },
          }),
      ],
    ];
  }

  #createTask(request: Received): ReturnType<Handler> {
    const prompt = String(request.body['prompt']);
    const task = this.addTask({ title: prompt });
    const messageId = randomUUID();
    this.emit(task.id, { type: 'user.message', payload: { messageId, text: prompt, source: 'cli' } });
    setImmediate(() => this.onTask(task.id));
    return { status: 201, body: task };
  }

  #putSkill({ body }: Received, name: string): ReturnType<Handler> {
    const at = new Date().toISOString();
    const files = (body['files'] as { path: string; content: string }[]).map(({ path, content }) => ({
      path,
      bytes: Buffer.from(content, 'base64').length,
    }));
    const skill = {
      name,
      description: 'what it is for',
      license: null,
      isEnabled: true,
      files,
      bytes: 0,
      createdAt: at,
      updatedAt: at,
      text: String(body['text']),
      compatibility: null,
      allowedTools: [],
    };
    this.skills.push(skill);
    return ok(skill);
  }

  #removeSkill(name: string): ReturnType<Handler> {
    const index = this.skills.findIndex((skill) => skill.name === name);
    if (index < 0) return found(undefined, 'skill');
    this.skills.splice(index, 1);
    return { status: 204, body: undefined };
  }

  #takeMessage(request: Received): ReturnType<Handler> {
    const task = this.tasks.at(-1) ?? this.addTask();
    const messageId = randomUUID();
    const text = String(request.body['text']);
    const answers = request.body['answers'];
    const answering = typeof answers === 'string' ? { answers } : {};
    this.emit(task.id, { type: 'user.message', payload: { messageId, text, source: 'cli', ...answering } });
    setImmediate(() => this.onMessage(request));
    return ok({ messageId, taskId: task.id, outcome: typeof answers === 'string' ? 'answered' : 'steered' });
  }

  #cancelTask(id: string): ReturnType<Handler> {
    const task = this.tasks.find((one) => one.id === id);
    if (task !== undefined) {
      task.state = 'cancelled';
      this.emit(id, { type: 'task.cancelled', payload: { by: 'cli' } });
    }
    return found(task, 'task');
  }

  #decide({ body }: Received, id: string): ReturnType<Handler> {
    const approval = this.approvals.find((one) => one.id === id);
    if (approval === undefined) return found(undefined, 'approval');
    const decision = body['decision'] === 'approved' ? 'approved' : 'refused';
    approval.state = decision;
    const { taskId, callId } = approval;
    this.emit(taskId, { type: 'approval.decided', payload: { approvalId: id, callId, decision, by: 'cli' } });
    setImmediate(() => this.onDecision(approval));
    return ok(approval);
  }
}

function ok(body: unknown): ReturnType<Handler> {
  return { status: 200, body };
}

function found(body: unknown, what: string): ReturnType<Handler> {
  return body === undefined ? { status: 404, body: problem(404, `${what}.not-found`) } : ok(body);
}

function problem(status: number, code: string): unknown {
  return {
    type: 'about:blank',
    title: 'Not found',
    status,
    code,
    detail: `There is no such thing (${code}).`,
  };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function emptyTask(): Task {
  const budget = { maxIterations: 50, maxTokens: 500_000, maxCostUsd: null, maxDurationMs: null };
  const spending = { iterations: 0, tokens: 0, costUsd: 0, durationMs: 0 };
  const empty = {
    parentId: null,
    round: null,
    index: null,
    dependsOn: [],
    role: null,
    tier: null,
    waitingFor: null,
    result: null,
    success: null,
    error: null,
    endedAt: null,
  };
  const id = randomUUID();
  const at = new Date().toISOString();
  return {
    ...empty,
    id,
    rootId: id,
    conversationId: randomUUID(),
    depth: 0,
    kind: 'chat',
    state: 'running',
    title: 'a task',
    complexity: 'simple',
    estimatedDuration: 'short',
    budget,
    spending,
    spentBelow: { tokens: 0, costUsd: 0 },
    tainted: false,
    lastSeq: 1,
    createdAt: at,
    startedAt: at,
  };
}
