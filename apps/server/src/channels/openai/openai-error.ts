import type { Problem } from '@vitto/contracts';

/** An error as clients of OpenAI read it. */
export interface OpenAiError {
  status: number;
  body: { error: { message: string; type: string; param: string | null; code: string } };
}

/** Codes of ours that clients know by another name. */
const CODES: Record<string, string> = {
  'sign-in.required': 'invalid_api_key',
  'model.unknown': 'model_not_found',
  'openai.no-such-model': 'model_not_found',
  'openai.too-long': 'context_length_exceeded',
  'openai.unsupported-parameter': 'unsupported_parameter',
  'openai.unsupported-content': 'unsupported_content',
  'openai.bad-messages': 'invalid_messages',
  'openai.answer-restarted': 'answer_restarted',
  'request.invalid': 'invalid_request',
  'request.bad-json': 'invalid_json',
  'request.too-many': 'rate_limit_exceeded',
};

/** A problem of ours in their shape. What we answer with 422 is a plain 400 there. */
export function toOpenAiError(problem: Problem): OpenAiError {
  const first = problem.errors?.[0];
  const isInvalid = problem.code === 'request.invalid';
  const field = isInvalid && first !== undefined ? `${first.path}: ${first.message}. ` : '';
  const status = isInvalid ? 400 : problem.status;
  return {
    status,
    body: {
      error: {
        message: field === '' ? (problem.detail ?? problem.title) : `${field}${problem.title}`,
        type: toType(status),
        param: first?.path ?? null,
        code: CODES[problem.code] ?? problem.code,
      },
    },
  };
}

function toType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
