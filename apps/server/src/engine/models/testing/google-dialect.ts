import { FAKE_USAGE, frame, objects } from './fake-dialect.ts';
import type { Dialect, FakeAnswer, JsonObject } from './fake-dialect.ts';

const STATUSES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};
const errorBody = (status: number, message: string): JsonObject => ({
  error: { code: status, message, status: STATUSES[status] ?? 'INTERNAL' },
});

const chunk = (parts: JsonObject[], more: JsonObject = {}, rest: JsonObject = {}): string =>
  frame({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    modelVersion: 'gemini-fake',
    ...rest,
  });

/** `streamGenerateContent` of Google. Its calls come whole, never in fragments. */
export const googleDialect: Dialect = {
  path: /^\/models\/[^/]+:streamGenerateContent$/u,
  ping: ': ping\n\n',
  streamError: (status, message) => frame(errorBody(status, message)),
  errorBody,
  refuse,
  encode: (answer) => ({
    opening: [chunk([{ text: '' }])],
    body: encodeParts(answer),
    ending: [encodeEnd(answer)],
  }),
};

function encodeParts({ reasoning, text, calls }: FakeAnswer): string[] {
  return [
    ...(reasoning ?? []).map((part) => chunk([{ text: part, thought: true }])),
    ...(text ?? []).map((part) => chunk([{ text: part }])),
    ...(calls ?? []).map(({ name, fragments }) => {
      const args: unknown = JSON.parse(fragments.join('') || '{}');
      return chunk([{ functionCall: { name, args }, thoughtSignature: 'c2lnbmVk' }]);
    }),
  ];
}

function encodeEnd({ finish, usage = FAKE_USAGE }: FakeAnswer): string {
  const usageMetadata = {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cached,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: usage.input + usage.output,
  };
  return chunk([], { finishReason: finish === 'length' ? 'MAX_TOKENS' : 'STOP' }, { usageMetadata });
}

function refuse(body: JsonObject): string | null {
  let open = 0;
  for (const [index, content] of objects(body['contents']).entries()) {
    const parts = objects(content['parts']);
    if (parts.length === 0) return `contents[${index}].parts must not be empty`;
    const results = parts.filter((part) => part['functionResponse'] !== undefined).length;
    if (results !== open) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts';
    }
    open = parts.filter((part) => part['functionCall'] !== undefined).length;
  }
  return open > 0 ? 'function call without a function response' : null;
}
