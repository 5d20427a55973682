import { FAKE_USAGE, frame, missingFrom, objects } from './fake-dialect.ts';
import type { Dialect, FakeAnswer, JsonObject } from './fake-dialect.ts';

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const event = (data: JsonObject & { type: string }): string => frame(data, data.type);
const errorBody = (status: number, message: string): JsonObject & { type: string } => ({
  type: 'error',
  error: { type: ERROR_TYPES[status] ?? 'api_error', message },
});

/** The Messages API of Anthropic. */
export const anthropicDialect: Dialect = {
  path: /^\/messages$/u,
  ping: event({ type: 'ping' }),
  streamError: (status, message) => event(errorBody(status, message)),
  errorBody,
  refuse,
  encode: (answer) => ({
    opening: [messageStart(answer)],
    body: encodeBlocks(answer),
    ending: encodeEnd(answer),
  }),
};

function messageStart({ usage = FAKE_USAGE }: FakeAnswer): string {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-fake',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input - usage.cached,
      cache_read_input_tokens: usage.cached,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    },
  };
  return event({ type: 'message_start', message });
}

function encodeBlocks(answer: FakeAnswer): string[] {
  const blocks: { start: JsonObject; deltas: JsonObject[] }[] = [];
  if (answer.reasoning) {
    const deltas = answer.reasoning.map((thinking) => ({ type: 'thinking_delta', thinking }));
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...deltas, { type: 'signature_delta', signature: 'c2lnbmVk' }],
    });
  }
  if (answer.text) {
    const deltas = answer.text.map((text) => ({ type: 'text_delta', text }));
    blocks.push({ start: { type: 'text', text: '' }, deltas });
  }
  for (const { id, name, fragments } of answer.calls ?? []) {
    const deltas = fragments.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    blocks.push({ start: { type: 'tool_use', id, name, input: {} }, deltas });
  }
  return blocks.flatMap(({ start, deltas }, index) => [
    event({ type: 'content_block_start', index, content_block: start }),
    ...(index === 0 ? [event({ type: 'ping' })] : []),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ]);
}

function encodeEnd({ calls, finish, usage = FAKE_USAGE }: FakeAnswer): string[] {
  const reason = finish === 'length' ? 'max_tokens' : calls?.length ? 'tool_use' : 'end_turn';
  return [
    event({
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: usage.output },
    }),
    event({ type: 'message_stop' }),
  ];
}

function refuse(body: JsonObject): string | null {
  const messages = objects(body['messages']);
  if (messages[0]?.['role'] !== 'user') return 'messages: first message must use the "user" role';
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required';
  const marks = JSON.stringify(body).match(/"cache_control":\{/gu)?.length ?? 0;
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const content = objects(message['content']);
    const results = idsOf(content, 'tool_result', 'tool_use_id');
    const orphans = missingFrom(results, open);
    if (orphans.length > 0)
      return `messages.${index}: unexpected tool_use_id found in tool_result blocks: ${orphans[0]}`;
    const unanswered = missingFrom(open, results);
    if (unanswered.length > 0)
      return `messages.${index - 1}: tool_use ids were found without tool_result blocks: ${unanswered[0]}`;
    const wrong = content.map(refuseBlock).find((reason) => reason !== null);
    if (wrong) return `messages.${index}: ${wrong}`;
    open = idsOf(content, 'tool_use', 'id');
  }
  return open.length > 0 ? `tool_use ids were found without tool_result blocks: ${open[0]}` : null;
}

function refuseBlock(block: JsonObject): string | null {
  if (block['type'] === 'text' && block['text'] === '') return 'text content blocks must be non-empty';
  if (block['type'] === 'thinking' && !block['signature']) return 'thinking.signature: Field required';
  if (block['type'] === 'tool_use') {
    const { input, id } = block;
    if (typeof input !== 'object' || input === null)
      return 'tool_use.input: Input should be a valid dictionary';
    if (!/^[\w-]+$/u.test(String(id))) return 'tool_use.id: String should match pattern';
  }
  return null;
}

function idsOf(content: JsonObject[], type: string, key: string): string[] {
  return content.filter((block) => block['type'] === type).map((block) => String(block[key]));
}
