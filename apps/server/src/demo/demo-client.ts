import { eventEnvelope, problem, task, type EventEnvelope, type Task } from '@vitto/contracts';
import { AppError } from '../kernel/app-error.ts';

const END_TYPES = new Set(['task.completed', 'task.failed', 'task.cancelled']);

/** The part of the HTTP API that the demo uses: the same as everybody's, with the token of this machine. */
export class DemoClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#headers = { authorization: `Bearer ${token}` };
  }

  /** Starts a task that was put together here. */
  createTask(body: { prompt: string; title: string; model: string; allowedPaths: string[] }): Promise<Task> {
    return this.#post('/api/tasks', body);
  }

  /** Starts the demo as the web app does. */
  startDemo(): Promise<Task> {
    return this.#post('/api/demo', {});
  }

  async cancelTask(taskId: string): Promise<void> {
    await this.#post(`/api/tasks/${taskId}/cancel`, {});
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

  async #post(path: string, body: unknown): Promise<Task> {
    const headers = { ...this.#headers, 'content-type': 'application/json' };
    const response = await fetch(this.#url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw await toError(response);
    return task.parse(await response.json());
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
