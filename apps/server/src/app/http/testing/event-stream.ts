import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';

export interface StreamedEvent {
  id: string;
  name: string;
  data: unknown;
}

/** A client of an event stream as the standard has it: what it got, and the id it would resume with. */
export interface EventStream {
  status: number;
  headers: IncomingMessage['headers'];
  events: StreamedEvent[];
  comments: string[];
  /** As a browser keeps it: also from blocks without data. */
  lastEventId: string;
  /** Body of an answer that is no stream. */
  body: string;
  /** Resolves when `isDone` holds; it is asked after each block and at the end. Rejects when the stream ends before. */
  until: (isDone: (stream: EventStream) => boolean) => Promise<void>;
  /** Resolves when the server has ended the stream or the connection is cut. */
  ended: Promise<void>;
  pause: () => void;
  resume: () => void;
  /** Cuts the connection. */
  cut: () => void;
}

export async function openEventStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const { request, response } = await send(url, headers);
  const parser = new BlockParser();
  const waiting = new Set<() => void>();
  const notify = () => {
    for (const check of waiting) check();
  };
  let isEnded = false;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const stream: EventStream = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events: parser.events,
    comments: parser.comments,
    lastEventId: headers['last-event-id'] ?? '',
    body: '',
    until: (isDone) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (isDone(stream)) resolve();
          else if (isEnded) reject(new Error(`the stream ended after ${stream.events.length} events`));
          else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
    ended,
    pause: () => response.pause(),
    resume: () => response.resume(),
    cut: () => request.destroy(),
  };
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    stream.body += stream.status === 200 ? '' : text;
    parser.push(text);
    stream.lastEventId = parser.lastEventId ?? stream.lastEventId;
    notify();
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    isEnded = true;
    end();
    notify();
  });
  return stream;
}

function send(
  url: string,
  headers: Record<string, string>,
): Promise<{ request: ClientRequest; response: IncomingMessage }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { agent: false, headers: { accept: 'text/event-stream', ...headers } });
    request.on('response', (response) => resolve({ request, response }));
    request.on('error', reject);
    request.end();
  });
}

/** Reads blocks as the HTML standard says. */
class BlockParser {
  readonly events: StreamedEvent[] = [];
  readonly comments: string[] = [];
  lastEventId: string | null = null;
  #rest = '';

  push(text: string): void {
    const blocks = `${this.#rest}${text}`.split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#read(block);
  }

  #read(block: string): void {
    let data = '';
    let name = 'message';
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments.push(line.slice(1).trim());
      else if (line.startsWith('id: ')) this.lastEventId = line.slice(4);
      else if (line.startsWith('event: ')) name = line.slice(7);
      else if (line.startsWith('data: ')) data += line.slice(6);
    }
    if (data !== '')
      this.events.push({ id: this.lastEventId ?? '', name, data: JSON.parse(data) as unknown });
  }
}
