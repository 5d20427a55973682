import { FAKE_USAGE, frame, missingFrom, objects } from './fake-dialect.ts';
import type { Dialect, FakeAnswer, JsonObject } from './fake-dialect.ts';

const event = (data: JsonObject & { type: string }): string => frame(data, data.type);
const response = { id: 'resp_1', created_at: 1_800_000_000, model: 'gpt-fake' };
const errorBody = (status: number, message: string): JsonObject => ({
  error: { message, type: status === 429 ? 'rate_limit_exceeded' : 'server_error', param: null, code: null },
});

/** The Responses API of OpenAI. */
export const responsesDialect: Dialect = {
  path: /^\/responses$/u,
  ping: event({ type: 'keepalive', sequence_number: 3 }),
  streamError: (status, message) =>
    event({
      type: 'response.failed',
      sequence_number: 9,
      response: {
        ...response,
        error: { code: status === 429 ? 'rate_limit_exceeded' : 'server_error', message },
      },
    }),
  errorBody,
  refuse,
  encode: (answer) => ({
    opening: [
      event({ type: 'response.created', sequence_number: 0, response }),
      event({ type: 'response.in_progress', sequence_number: 1, response }),
    ],
    body: [...encodeReasoning(answer), ...encodeText(answer), ...encodeCalls(answer)],
    ending: [encodeEnd(answer)],
  }),
};

const added = (output_index: number, item: JsonObject): string =>
  event({ type: 'response.output_item.added', output_index, item });
const done = (output_index: number, item: JsonObject): string =>
  event({ type: 'response.output_item.done', output_index, item });

function encodeReasoning({ reasoning }: FakeAnswer): string[] {
  if (!reasoning) return [];
  const at = { item_id: 'rs_1', output_index: 0, summary_index: 0 };
  const item = { type: 'reasoning', id: 'rs_1', summary: [] };
  return [
    added(0, { ...item, encrypted_content: 'ZW5j' }),
    event({ type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } }),
    ...reasoning.map((delta) => event({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
    event({ type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text: '' } }),
    done(0, { ...item, encrypted_content: 'ZW5jcnlwdGVk' }),
  ];
}

function encodeText({ text }: FakeAnswer): string[] {
  if (!text) return [];
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] };
  const at = { item_id: 'msg_1', output_index: 1, content_index: 0 };
  return [
    added(1, item),
    ...text.map((delta) => event({ type: 'response.output_text.delta', ...at, delta })),
    done(1, item),
  ];
}

function encodeCalls({ calls }: FakeAnswer): string[] {
  return (calls ?? []).flatMap(({ id, name, fragments }, index) => {
    const output_index = index + 2;
    const item = { type: 'function_call', id: `fc_${index}`, call_id: id, name };
    const whole = fragments.join('');
    return [
      added(output_index, { ...item, arguments: '', status: 'in_progress' }),
      ...fragments.map((delta) =>
        event({ type: 'response.function_call_arguments.delta', item_id: item.id, output_index, delta }),
      ),
      event({
        type: 'response.function_call_arguments.done',
        item_id: item.id,
        output_index,
        arguments: whole,
      }),
      done(output_index, { ...item, arguments: whole, status: 'completed' }),
    ];
  });
}

function encodeEnd({ finish, usage = FAKE_USAGE }: FakeAnswer): string {
  const numbers = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
  if (finish === 'length') {
    const incomplete_details = { reason: 'max_output_tokens' };
    return event({
      type: 'response.incomplete',
      response: { ...response, incomplete_details, usage: numbers },
    });
  }
  return event({ type: 'response.completed', response: { ...response, usage: numbers } });
}

function refuse(body: JsonObject): string | null {
  if (body['store'] !== false) return 'This fake stores nothing: send store: false.';
  const input = objects(body['input']);
  const ofType = (type: string): string[] =>
    input.filter((item) => item['type'] === type).map((item) => String(item['call_id']));
  const calls = ofType('function_call');
  const outputs = ofType('function_call_output');
  const [orphan] = missingFrom(outputs, calls);
  if (orphan) return `No tool call found for function call output with call_id ${orphan}.`;
  const [unanswered] = missingFrom(calls, outputs);
  if (unanswered) return `No tool output found for function call ${unanswered}.`;
  const reference = input.find((item) => item['type'] === 'item_reference');
  if (reference) return `Item with id '${String(reference['id'])}' not found.`;
  const bare = input.find((item) => item['type'] === 'reasoning' && !item['encrypted_content']);
  return bare ? `Item with id '${String(bare['id'])}' not found.` : null;
}
