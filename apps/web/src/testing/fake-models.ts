import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Providers of models on this machine, as Vitto asks them: Anthropic, one that speaks as OpenAI does, and an Ollama. */
export interface FakeModels {
  /** `ANTHROPIC_BASE_URL`. Its key is `sk-ant-good`. */
  anthropicUrl: string;
  compatibleUrl: string;
  /** `OLLAMA_HOST`. */
  ollamaHost: string;
  /** The models that the Ollama has. */
  ollamaModels: string[];
  /** What each request came with. */
  requests: { path: string; key: string | null; model: string }[];
  close: () => Promise<void>;
}

export const GOOD_KEY = 'sk-ant-good-0123456789abcdef';
const ANSWER = 'I am here.';

export async function startFakeModels(): Promise<FakeModels> {
  const server = createServer((request, response) => {
    void handle(request, response, fake).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeModels = {
    anthropicUrl: `http://${host}/anthropic/v1`,
    compatibleUrl: `http://${host}/v1`,
    ollamaHost: host,
    ollamaModels: [],
    requests: [],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

async function handle(request: IncomingMessage, response: ServerResponse, fake: FakeModels): Promise<void> {
  const path = request.url ?? '';
  if (path === '/api/tags')
    return json(response, 200, { models: fake.ollamaModels.map((name) => ({ name })) });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { model } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { model: string };
  const key = request.headers['x-api-key'] ?? request.headers.authorization?.replace('Bearer ', '') ?? null;
  fake.requests.push({ path, key: typeof key === 'string' ? key : null, model });
  if (path.startsWith('/anthropic')) return answerAsAnthropic(response, key === GOOD_KEY, model);
  if (model === 'missing')
    return json(response, 404, { error: { message: `The model "${model}" does not exist.` } });
  answerAsOpenAi(response, model);
}

function answerAsAnthropic(response: ServerResponse, isKnown: boolean, model: string): void {
  if (!isKnown)
    return json(response, 401, {
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid x-api-key' },
    });
  const usage = { input_tokens: 12, output_tokens: 5 };
  const message = { id: 'm1', type: 'message', role: 'assistant', model, content: [], stop_reason: null };
  stream(response, [
    ['message_start', { message: { ...message, usage } }],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: ANSWER } }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }],
    ['message_stop', {}],
  ]);
}

function stream(response: ServerResponse, events: [string, object][]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [type, data] of events)
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  response.end();
}

function answerAsOpenAi(response: ServerResponse, model: string): void {
  const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 0, model };
  const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const part of [
    { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: ANSWER }, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ])
    response.write(`data: ${JSON.stringify(part)}\n\n`);
  response.end('data: [DONE]\n\n');
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
