import { FAKE_USAGE, frame, missingFrom, objects } from './fake-dialect.ts';
import type { Dialect, FakeAnswer, JsonObject } from './fake-dialect.ts';

const errorBody = (status: number, message: string): JsonObject => ({
  error: { message, type: status === 429 ? 'rate_limit_exceeded' : 'error', param: null, code: status },
});

const chunk = (choice: JsonObject | null, more: JsonObject = {}): string =>
  frame({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_800_000_000,
    model: 'fake',
    choices: choice === null ? [] : [{ index: 0, finish_reason: null, ...choice }],
    ...more,
  });

/** Chat Completions as vLLM, llama.cpp, LM Studio and others speak it. */
export const chatDialect: Dialect = {
  path: /^\/chat\/completions$/u,
  ping: ': keep-alive\n\n',
  streamError: (status, message) => frame(errorBody(status, message)),
  errorBody,
  refuse,
  encode: (answer) => ({
    opening: [chunk({ delta: { role: 'assistant', content: '' } })],
    body: encodeDeltas(answer, 'reasoning_content'),
    ending: encodeEnd(answer),
  }),
};

/** The same under the paths of Ollama's compatible endpoint. */
export const ollamaDialect: Dialect = { ...chatDialect, path: /^\/v1\/chat\/completions$/u };

/** OpenRouter: its comments keep the connection alive, and reasoning has a name of its own. */
export const openrouterDialect: Dialect = {
  ...chatDialect,
  ping: ': OPENROUTER PROCESSING\n\n',
  encode: (answer) => {
    const frames = chatDialect.encode(answer);
    return { ...frames, body: [': OPENROUTER PROCESSING\n\n', ...encodeDeltas(answer, 'reasoning')] };
  },
};

function encodeDeltas(answer: FakeAnswer, reasoningField: string): string[] {
  const reasoning = (answer.reasoning ?? []).map((text) => chunk({ delta: { [reasoningField]: text } }));
  const text = (answer.text ?? []).map((content) => chunk({ delta: { content } }));
  const calls = (answer.calls ?? []).flatMap(({ id, name, fragments }, index) => {
    const [first = '', ...rest] = fragments;
    const start = { index, id, type: 'function', function: { name, arguments: first } };
    return [
      chunk({ delta: { tool_calls: [start] } }),
      ...rest.map((more) => chunk({ delta: { tool_calls: [{ index, function: { arguments: more } }] } })),
    ];
  });
  return [...reasoning, ...text, ...calls];
}

function encodeEnd({ calls, finish, usage = FAKE_USAGE }: FakeAnswer): string[] {
  const reason = finish ?? (calls?.length ? 'tool_calls' : 'stop');
  const numbers = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
  return [chunk({ delta: {}, finish_reason: reason }), chunk(null, { usage: numbers }), frame('[DONE]')];
}

function refuse(body: JsonObject): string | null {
  let open: string[] = [];
  for (const [index, message] of objects(body['messages']).entries()) {
    if (message['role'] === 'tool') {
      const id = String(message['tool_call_id']);
      if (!open.includes(id)) return `messages.${index}: 'tool' must follow 'tool_calls' with the id ${id}`;
      open = missingFrom(open, [id]);
      continue;
    }
    if (open.length > 0) return `messages.${index}: tool_call_ids did not have response messages: ${open[0]}`;
    const calls = objects(message['tool_calls']);
    for (const call of calls) {
      if (!isJsonObject((call['function'] as JsonObject)['arguments'])) {
        return `messages.${index}: function.arguments is no JSON object`;
      }
    }
    open = calls.map((call) => String(call['id']));
  }
  return open.length > 0 ? `tool_call_ids did not have response messages: ${open[0]}` : null;
}

function isJsonObject(text: unknown): boolean {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
