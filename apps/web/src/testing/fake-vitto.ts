import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Costs, EventEnvelope, SandboxOverview, SearchHit, Task } from '@vitto/contracts';
import { EventMaker, idOf } from './event-maker.ts';
import { FakeArtifacts } from './fake-artifacts.ts';
import {
  CONVERSATION,
  decidedApproval,
  folderRefusal,
  NOW,
  systemWith,
  taskShape,
  modelSetupWith,
} from './fake-shapes.ts';
import { serveFile } from './serve-file.ts';

export { CONVERSATION };
export const ARTIFACT = idOf(77);
const CSP =
  "default-src 'self'; img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

interface Call {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

/** Vitto's API with a journal in memory, for tests of the page: the same routes and shapes, and faults on demand. */
export class FakeVitto {
  readonly make = new EventMaker(CONVERSATION);
  readonly journal: EventEnvelope[] = [];
  /** Every request that changes something, as it came. */
  readonly calls: Call[] = [];
  /** The `Last-Event-ID` of each stream that was opened. */
  readonly resumedFrom: (string | undefined)[] = [];
  isSignedIn = true;
  models = ['anthropic/claude'];
  machines: SandboxOverview = { hosts: [], sandboxes: [] };
  /** What lists of tasks are made of, newest first; a task that is not here has the usual shape. */
  tasks: Task[] = [];
  costs: Costs | null = null;
  title = 'A conversation';
  conversationCount = 1;
  historyLimit = 500;
  /** What the conversation may read, what all may, and which folders do not exist here. */
  allowedPaths: string[] = [];
  role: 'owner' | 'member' = 'owner';
  sharedPaths: string[] = [];
  readonly missingFolders = new Set<string>();
  /** What the next answers to a method and path are instead; `drop` cuts the connection after the work is done. */
  readonly faults = new Map<string, { status: number; body: Record<string, unknown> } | 'drop'>();
  /** Called for each message that is new; the test plays Vitto here. */
  onMessage: (text: string, body: Record<string, unknown>) => void = () => {};
  onDecision: (decision: string, note: string | undefined) => void = () => {};
  onCancel: () => void = () => {};
  /** The answer to a demo waits for this. */
  onDemo: () => Promise<void> | void = () => {};
  refusesStreams = false;
  readonly artifacts = new FakeArtifacts();
  /** What a search finds, and what was searched for. */
  hits: SearchHit[] = [];
  readonly searches: string[] = [];
  /** Called for each upload, before its answer. */
  onUpload: (name: string) => Promise<void> | void = () => {};

  readonly #streams = new Set<ServerResponse>();
  readonly #answers = new Map<string, unknown>();
  readonly #server: Server;

  constructor(webRoot: string) {
    this.#server = createServer((request, response) => {
      void this.#handle(request, response, webRoot).catch(() => response.destroy());
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Writes to the journal and sends it to who listens. */
  emit(...events: EventEnvelope[]): void {
    this.journal.push(...events);
    for (const stream of this.#streams) for (const event of events) stream.write(frame(event));
  }

  dropStreams(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  sendResync(): void {
    for (const stream of this.#streams) stream.write(`event: resync\ndata: {}\n\n`);
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  async #handle(request: IncomingMessage, response: ServerResponse, webRoot: string): Promise<void> {
    response.setHeader('content-security-policy', CSP);
    const url = new URL(request.url ?? '/', 'http://fake');
    if (!url.pathname.startsWith('/api/')) return serveFile(response, webRoot, url.pathname);
    const method = request.method ?? 'GET';
    const isUpload = url.pathname === '/api/attachments';
    const file = isUpload ? await readBytes(request) : null;
    const body = file === null ? await readBody(request) : { bytes: file.length };
    if (method !== 'GET') this.calls.push({ method, path: url.pathname, headers: request.headers, body });
    const fault = this.faults.get(`${method} ${url.pathname}`);
    if (fault !== undefined && fault !== 'drop') return problem(response, fault.status, fault.body);
    if (url.pathname === '/api/session') return this.#session(method, body, response);
    if (!this.isSignedIn)
      return problem(response, 401, { code: 'sign-in.required', title: 'You are not signed in.' });
    if (method !== 'GET' && request.headers['x-csrf-token'] !== 'csrf-1')
      return problem(response, 403, {
        code: 'sign-in.csrf',
        title: 'The request lacks the token of its session.',
      });
    if (url.pathname === '/api/events') return this.#openStream(request, response);
    if (file !== null) return this.#keepUpload(url, file, response);
    const content = /^\/api\/artifacts\/([^/]+)\/content$/.exec(url.pathname)?.[1];
    if (content !== undefined && this.artifacts.sendContent(content, request, response)) return;
    const missing = toPaths(body).find((folder) => this.missingFolders.has(folder));
    if (missing !== undefined) return problem(response, 422, folderRefusal(missing));
    if (url.pathname === '/api/demo') await this.onDemo();
    const key = request.headers['idempotency-key'];
    const known = typeof key === 'string' ? this.#answers.get(key) : undefined;
    const answer = known ?? this.#answer(method, url, body);
    if (typeof key === 'string') this.#answers.set(key, answer);
    if (fault === 'drop') return void response.destroy();
    if (answer === null)
      return problem(response, 404, { code: 'not-found', title: 'There is no such thing.' });
    if (answer === undefined) return void response.writeHead(204).end();
    json(response, 200, answer);
  }

  #session(method: string, body: Record<string, unknown>, response: ServerResponse): void {
    if (method === 'POST' && body['code'] === 'good') this.isSignedIn = true;
    else if (method === 'POST')
      return problem(response, 401, {
        code: 'sign-in.code-invalid',
        title: 'This sign-in link has been used.',
      });
    if (method === 'DELETE') {
      this.isSignedIn = false;
      return void response.writeHead(204).end();
    }
    if (!this.isSignedIn)
      return problem(response, 401, { code: 'sign-in.required', title: 'You are not signed in.' });
    const lastPosition = this.make.lastPosition;
    json(response, 200, { id: idOf(5), name: 'Ana', role: this.role, csrfToken: 'csrf-1', lastPosition });
  }

  #answer(method: string, url: URL, body: Record<string, unknown>): unknown {
    const path = url.pathname;
    if (path === '/api/settings') return { language: 'en', allowedPaths: this.sharedPaths };
    if (path === '/api/search') {
      this.searches.push(url.searchParams.get('q') ?? '');
      return { items: this.hits };
    }
    if (path.startsWith('/api/artifacts/')) return this.artifacts.find(path.split('/')[3] ?? '');
    if (path === '/api/system') return systemWith(this.models);
    if (path === '/api/sandbox') return this.machines;
    if (path === '/api/costs') return this.costs;
    if (path === '/api/tasks' && method === 'GET') return this.#listTasks(url);
    const steps = /^\/api\/tasks\/([^/]+)\/steps$/.exec(path)?.[1];
    if (steps !== undefined) return this.#steps(steps, url);
    if (path === '/api/models') return modelSetupWith(this.models);
    if (path === '/api/conversations' && method === 'GET') return this.#list(url);
    if (path === '/api/conversations') {
      this.conversationCount = Math.max(1, this.conversationCount);
      this.allowedPaths = toPaths(body);
      return this.#conversation(CONVERSATION, '');
    }
    if (path === '/api/demo') return taskShape(idOf(1));
    if (path === `/api/conversations/${CONVERSATION}` && method === 'PATCH') this.#change(body);
    if (path === `/api/conversations/${CONVERSATION}` && method === 'DELETE') {
      this.conversationCount = 0;
      return undefined;
    }
    if (path === `/api/conversations/${CONVERSATION}`) return this.#conversation(CONVERSATION, this.title);
    if (path === `/api/conversations/${CONVERSATION}/events`) return this.#history(url);
    if (path === `/api/conversations/${CONVERSATION}/messages`) {
      this.onMessage(String(body['text']), body);
      return { messageId: crypto.randomUUID(), taskId: idOf(1), outcome: 'started' };
    }
    if (path.startsWith('/api/tasks/') && path.endsWith('/cancel')) {
      this.onCancel();
      return taskShape(path.split('/')[3] ?? '');
    }
    const id = path.split('/')[3] ?? '';
    if (path.startsWith('/api/tasks/')) return this.tasks.find((task) => task.id === id) ?? taskShape(id);
    if (path.startsWith('/api/approvals/')) return this.#decide(path.split('/')[3] ?? '', body);
    return null;
  }

  #change(body: Record<string, unknown>): void {
    if (typeof body['title'] === 'string') this.title = body['title'];
    if (body['allowedPaths'] !== undefined) this.allowedPaths = toPaths(body);
  }

  async #keepUpload(url: URL, file: Buffer, response: ServerResponse): Promise<void> {
    const name = url.searchParams.get('name') ?? '';
    await this.onUpload(name);
    json(response, 201, this.artifacts.add(name, url.searchParams.get('mediaType') ?? '', file));
  }

  #decide(id: string, body: Record<string, unknown>): unknown {
    this.onDecision(String(body['decision']), body['note'] as string | undefined);
    return decidedApproval(id, body);
  }

  #conversation(id: string, title: string) {
    const allowedPaths = id === CONVERSATION ? this.allowedPaths : [];
    return { id, title, createdAt: NOW, updatedAt: NOW, activeTaskId: null, allowedPaths };
  }

  #list(url: URL) {
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const limit = Number(url.searchParams.get('limit'));
    const items = Array.from({ length: Math.min(limit, this.conversationCount - from) }, (_, at) =>
      from + at === 0
        ? this.#conversation(CONVERSATION, this.title)
        : this.#conversation(idOf(1000 + from + at), `Older conversation ${from + at}`),
    );
    const next = from + items.length;
    return { items, nextCursor: next < this.conversationCount ? String(next) : null };
  }

  #listTasks(url: URL) {
    const { searchParams: query } = url;
    const fits = (task: Task) =>
      (query.get('state') !== 'active' || task.endedAt === null) &&
      (query.get('rootId') === null || task.rootId === query.get('rootId'));
    const from = Number(query.get('cursor') ?? 0);
    const to = from + Number(query.get('limit') ?? 50);
    const all = this.tasks.filter(fits);
    return { items: all.slice(from, to), nextCursor: to < all.length ? String(to) : null };
  }

  /** A task's journal without its deltas, all of it, in the order that was asked for. */
  #steps(taskId: string, url: URL) {
    const deltas = ['agent.text', 'agent.reasoning', 'tool.progress'];
    const events = this.journal.filter((event) => event.taskId === taskId && !deltas.includes(event.type));
    const lastSeq = events.at(-1)?.seq ?? 0;
    const items = url.searchParams.get('order') === 'desc' ? events.toReversed() : events;
    const limit = Number(url.searchParams.get('limit') ?? 200);
    return { items: items.slice(0, limit), nextCursor: null, lastSeq, lastPosition: this.make.lastPosition };
  }

  #history(url: URL) {
    const before = Number(url.searchParams.get('before') ?? Number.MAX_SAFE_INTEGER);
    const events = this.journal.filter((event) => event.position < before);
    const items = events.slice(-this.historyLimit);
    return {
      items,
      lastPosition: this.make.lastPosition,
      nextBefore: items.length < events.length ? (items[0]?.position ?? null) : null,
    };
  }

  #openStream(request: IncomingMessage, response: ServerResponse): void {
    if (this.refusesStreams)
      return problem(response, 503, { code: 'stream.unavailable', title: 'Shutting down.' });
    const from = request.headers['last-event-id'];
    this.resumedFrom.push(from as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(': open\n\n');
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
    for (const event of this.journal) if (event.position > Number(from)) response.write(frame(event));
  }
}

function frame(event: EventEnvelope): string {
  return `id: ${event.position}\ndata: ${JSON.stringify(event)}\n\n`;
}

function toPaths(body: Record<string, unknown>): string[] {
  return (body['allowedPaths'] ?? []) as string[];
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const text = (await readBytes(request)).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function problem(response: ServerResponse, status: number, body: Record<string, unknown>): void {
  const whole = { type: 'urn:vitto:problem', status, ...body };
  response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(whole));
}
