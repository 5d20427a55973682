import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  approval,
  artifact,
  auditEntry,
  auditVerification,
  conversation,
  eventPage,
  mcpServer,
  mcpServerList,
  me,
  page,
  sandboxOverview,
  sentMessage,
  skillList,
  skillWithText,
  systemStatus,
  task,
  signInCode,
} from '@vitto/contracts';
import type {
  approveMcpServer,
  createMcpServer,
  putSkill,
  createTask,
  decideApproval,
  sendMessage,
  updateConversation,
} from '@vitto/contracts';
import { isBroken, readProblem, unreachable } from './api-problem.ts';
import { CliError, EXIT } from './cli-error.ts';
import { commandLine } from './command-line.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const VERIFY_TIMEOUT_MS = 600_000;
/** The server itself waits 30 s for the greeting of an MCP server, and as long for its list. */
const CHECK_TIMEOUT_MS = 90_000;
const SNAPSHOT_TIMEOUT_MS = 300_000;
/** Between a request that broke on its way and the one time it is sent again. */
const RESEND_AFTER_MS = 500;

const taskPage = page(task);
const approvalPage = page(approval);
const auditPage = page(auditEntry);

type Schema<T> = { safeParse(value: unknown): { success: true; data: T } | { success: false; error: Error } };
type Input<T extends { _zod: { input: unknown } }> = T['_zod']['input'];
export interface SandboxCommand {
  command: string;
  cwd?: string;
  stdin?: string;
  timeoutMs?: number;
}
interface Call {
  method?: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  body?: unknown;
  timeoutMs?: number;
  query?: Record<string, string | number | undefined>;
}

/**
 * The REST API, with every answer checked against the contract. What goes wrong comes as a `CliError` that says what
 * to do; a POST carries an idempotency key, so that one which broke on its way can be sent again.
 */
export class ApiClient {
  readonly url: URL;
  readonly token: string | undefined;
  constructor(url: URL, token: string | undefined) {
    this.url = url;
    this.token = token;
  }

  get hasToken(): boolean {
    return this.token !== undefined;
  }
  get headers(): Record<string, string> {
    return this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
  }

  createSignInCode = () => this.#call('api/sign-in-codes', signInCode, { method: 'POST', body: {} });
  createTask = (body: Input<typeof createTask>) => this.#call('api/tasks', task, { method: 'POST', body });
  sendMessage = (conversationId: string, body: Input<typeof sendMessage>) =>
    this.#call(`api/conversations/${encodeURIComponent(conversationId)}/messages`, sentMessage, {
      method: 'POST',
      body,
    });
  findConversation = (id: string) =>
    this.#call(`api/conversations/${encodeURIComponent(id)}`, conversation, {});
  updateConversation = (id: string, body: Input<typeof updateConversation>) =>
    this.#call(`api/conversations/${encodeURIComponent(id)}`, conversation, { method: 'PATCH', body });
  listTasks = (query: { state?: string; rootId?: string; cursor?: string; limit?: number }) =>
    this.#call('api/tasks', taskPage, { query });
  findTask = (id: string) => this.#call(`api/tasks/${encodeURIComponent(id)}`, task, {});
  cancelTask = (id: string) =>
    this.#call(`api/tasks/${encodeURIComponent(id)}/cancel`, task, { method: 'POST', body: {} });
  listEvents = (taskId: string, query: { after?: number; limit?: number }) =>
    this.#call(`api/tasks/${encodeURIComponent(taskId)}/events`, eventPage, { query });
  listAllEvents = (query: { after?: number; limit?: number }) =>
    this.#call('api/events', eventPage, { query });
  listApprovals = (query: { state?: string; cursor?: string; limit?: number }) =>
    this.#call('api/approvals', approvalPage, { query });
  decideApproval = (id: string, body: Input<typeof decideApproval>) =>
    this.#call(`api/approvals/${encodeURIComponent(id)}/decision`, approval, { method: 'POST', body });
  findArtifact = (id: string) => this.#call(`api/artifacts/${encodeURIComponent(id)}`, artifact, {});
  listSkills = () => this.#call('api/skills', skillList, {});
  putSkill = (name: string, body: Input<typeof putSkill>) =>
    this.#call(`api/skills/${encodeURIComponent(name)}`, skillWithText, { method: 'PUT', body });
  listMcpServers = () => this.#call('api/mcp-servers', mcpServerList, {});
  createMcpServer = (body: Input<typeof createMcpServer>) =>
    this.#call('api/mcp-servers', mcpServer, { method: 'POST', body });
  checkMcpServer = (id: string) =>
    this.#call(`api/mcp-servers/${encodeURIComponent(id)}/check`, mcpServer, {
      method: 'POST',
      body: {},
      timeoutMs: CHECK_TIMEOUT_MS,
    });
  approveMcpServer = (id: string, body: Input<typeof approveMcpServer>) =>
    this.#call(`api/mcp-servers/${encodeURIComponent(id)}/approve`, mcpServer, { method: 'POST', body });
  listAudit = (query: { action?: string; q?: string; cursor?: string; limit?: number }) =>
    this.#call('api/audit', auditPage, { query });
  /** Takes as long as there are entries: some seconds for a hundred thousand. */
  verifyAudit = () => this.#call('api/audit/verify', auditVerification, { timeoutMs: VERIFY_TIMEOUT_MS });
  /** My machines; for who keeps the installation all of them, with the hosts. */
  readSandboxes = () => this.#call('api/sandbox', sandboxOverview, {});
  readSystem = () => this.#call('api/system', systemStatus, {});
  readSession = () => this.#call('api/session', me, {});

  /** Taking a snapshot takes as long as there is memory to write. */
  async actOnSandbox(id: string, act: 'snapshot' | 'destroy' | 'forget'): Promise<void> {
    const call: Call = { method: 'POST', body: {}, timeoutMs: SNAPSHOT_TIMEOUT_MS };
    const response = await this.#send(`api/sandbox/${encodeURIComponent(id)}/${act}`, call);
    if (!response.ok) throw await readProblem(response);
  }

  /** A command in a machine, as the events of `exec`. Who goes away ends the command: it is not sent twice. */
  async openExec(id: string, body: SandboxCommand, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await fetch(this.address(`api/sandbox/${encodeURIComponent(id)}/exec`), {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...this.headers },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    }).catch((error: unknown) => {
      throw unreachable(this.url, error);
    });
    if (!response.ok) throw await readProblem(response);
    return response.body ?? new ReadableStream({ start: (controller) => controller.close() });
  }

  async removeMcpServer(id: string): Promise<void> {
    const response = await this.#send(`api/mcp-servers/${encodeURIComponent(id)}`, { method: 'DELETE' });
    if (!response.ok) throw await readProblem(response);
  }

  async removeSkill(name: string): Promise<void> {
    const response = await this.#send(`api/skills/${encodeURIComponent(name)}`, { method: 'DELETE' });
    if (!response.ok) throw await readProblem(response);
  }

  /** The bytes of an artifact, as they come. */
  async readArtifact(id: string): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send(`api/artifacts/${encodeURIComponent(id)}/content`, {});
    if (!response.ok) throw await readProblem(response);
    return response.body ?? new ReadableStream({ start: (controller) => controller.close() });
  }

  /** The address of a route, under whatever path the server is served. */
  address(path: string, query: Call['query'] = {}): URL {
    const base = this.url.href.endsWith('/') ? this.url.href : `${this.url.href}/`;
    const url = new URL(path, base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  async #call<T>(path: string, schema: Schema<T>, call: Call): Promise<T> {
    const response = await this.#send(path, call);
    if (!response.ok) throw await readProblem(response);
    const parsed = schema.safeParse(await response.json().catch(() => undefined));
    if (parsed.success) return parsed.data;
    throw new CliError(
      EXIT.failed,
      'cli.bad-answer',
      `The server at ${this.url.origin} gave an answer to /${path} that this version of vitto does not understand.`,
      `Use the same version of vitto on both sides; "${commandLine('doctor')}" shows the server's.`,
    );
  }

  async #send(path: string, call: Call): Promise<Response> {
    const key = call.method === 'POST' ? { 'idempotency-key': randomUUID() } : undefined;
    const request = () =>
      fetch(this.address(path, call.query), {
        method: call.method ?? 'GET',
        headers: {
          accept: 'application/json',
          ...this.headers,
          ...key,
          ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(call.timeoutMs ?? REQUEST_TIMEOUT_MS),
      });
    try {
      return await request().catch(async (error: unknown) => {
        // Where nobody listens nothing broke on its way: saying so at once is kinder than waiting.
        if (!isBroken(error)) throw error;
        await delay(RESEND_AFTER_MS);
        return request();
      });
    } catch (error) {
      throw unreachable(this.url, error);
    }
  }
}
