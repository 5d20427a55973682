import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  conversation,
  eventEnvelope,
  problem,
  sentMessage,
  task,
  type EventEnvelope,
} from '@vitto/contracts';
import type { z } from 'zod';
import type { Vitto } from '../app/start-vitto.ts';
import { AppError } from '../kernel/app-error.ts';
import { DEMO_VM, type PreparedDemo } from './prepare-demo.ts';

const END_TYPES = new Set(['task.completed', 'task.failed', 'task.cancelled']);

/** The part of the HTTP API that the demo uses: the same as everybody's, with the token of this machine. */
export class DemoClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  /** For the Vitto of this process. */
  static async connect({ url, installation }: Pick<Vitto, 'url' | 'installation'>): Promise<DemoClient> {
    const token = await readFile(join(installation.config.home, 'cli-token'), 'utf8');
    return new DemoClient(url ?? '', token.trim());
  }

  constructor(url: string, token: string) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${token}` };
  }

  /** Starts a demo in a conversation of its own, played from a file; gives the task's id. */
  async startDemo(demo: PreparedDemo, script: string): Promise<string> {
    const { prompt, title, folder } = demo;
    const body = { prompt, title, model: `script:${script}`, allowedPaths: [folder], ...DEMO_VM };
    return (await this.#post('/api/tasks', body, task)).id;
  }

  /** Takes the snapshot of a VM and suspends it. */
  async snapshot(sandboxId: string): Promise<void> {
    const headers = { ...this.#headers };
    const response = await fetch(`${this.#url}/api/sandbox/${sandboxId}/snapshot`, {
      method: 'POST',
      headers,
    });
    if (!response.ok) throw await toError(response);
  }

  /** Asks for the tests of the mended copy once more; gives the task's id. */
  async startSecondRun(script: string): Promise<string> {
    const prompt = 'Please run the tests of the mended copy once more.';
    return (await this.#post('/api/tasks', { prompt, model: `script:${script}`, ...DEMO_VM }, task)).id;
  }

  /** Opens a conversation for a demo that starts later; gives its id. */
  async openConversation({ title, folder }: PreparedDemo): Promise<string> {
    return (await this.#post('/api/conversations', { title, allowedPaths: [folder] }, conversation)).id;
  }

  /** Starts a demo in a conversation that is open; gives the task's id. */
  async startDemoIn(conversationId: string, demo: PreparedDemo, script: string): Promise<string> {
    const body = { text: demo.prompt, model: `script:${script}`, ...DEMO_VM };
    return (await this.#post(`/api/conversations/${conversationId}/messages`, body, sentMessage)).taskId;
  }

  /** Changes nothing when it has ended. */
  async cancelTask(taskId: string): Promise<void> {
    await this.#post(`/api/tasks/${taskId}/cancel`, {}, task);
  }

  /** A task's events as they happen, up to its last. */
  async *followTask(taskId: string, signal: AbortSignal): AsyncGenerator<EventEnvelope> {
    for (let position = 0, isOver = false; !isOver;) {
      const headers = { ...this.#headers, accept: 'text/event-stream', 'last-event-id': String(position) };
      const response = await fetch(`${this.#url}/api/tasks/${taskId}/events`, { headers, signal });
      if (!response.ok || response.body === null) throw await toError(response);
      for await (const line of readLines(response.body)) {
        if (!line.startsWith('data: ')) continue;
        const event = eventEnvelope.parse(JSON.parse(line.slice('data: '.length)));
        position = event.position;
        isOver ||= END_TYPES.has(event.type);
        yield event;
      }
    }
  }

  async #post<T>(path: string, body: unknown, answer: z.ZodType<T>): Promise<T> {
    const headers = { ...this.#headers, 'content-type': 'application/json' };
    const response = await fetch(this.#url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw await toError(response);
    return answer.parse(await response.json());
  }
}

/** Not by `node:readline`: that also breaks lines at U+2028, which may stand in what a command printed. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

async function toError(response: Response): Promise<Error> {
  const said = problem.safeParse(await response.json().catch(() => null));
  if (!said.success) return new Error(`the server answered with status ${response.status}`);
  const { code, title, detail, status, hint } = said.data;
  return new AppError(code, detail ?? title, { status, ...(hint === undefined ? {} : { hint }) });
}
