import { AppError } from '../../kernel/app-error.ts';
import type { ChatRequest } from './chat-request.ts';

const isAsked = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : isAsked(value) && value !== '';
const typeOf = (value: unknown): unknown => (value as { type?: unknown } | undefined)?.type;

/**
 * What would change the meaning of the answer and cannot be honoured. Everything else that Vitto does not use
 * (temperature, top_p, penalties, seed, max_tokens, user, store, …) is left out without a word.
 */
const UNSUPPORTED: Record<string, { isMeant: (value: unknown) => boolean; why: string }> = {
  tools: { isMeant: isFilled, why: 'Vitto works with its own tools; it calls none of the client.' },
  functions: { isMeant: isFilled, why: 'Vitto works with its own tools; it calls none of the client.' },
  tool_choice: {
    isMeant: (value) => isAsked(value) && value !== 'auto' && value !== 'none',
    why: 'Vitto chooses its tools itself.',
  },
  n: { isMeant: (value) => isAsked(value) && value !== 1, why: 'A task is done once: there is one answer.' },
  logprobs: { isMeant: isAsked, why: 'A task has no token probabilities.' },
  top_logprobs: {
    isMeant: (value) => isAsked(value) && value !== 0,
    why: 'A task has no token probabilities.',
  },
  logit_bias: { isMeant: isFilled, why: 'A task has no token probabilities.' },
  response_format: {
    isMeant: (value) => isAsked(value) && typeOf(value) !== 'text',
    why: 'Answers are text; a format is not enforced. Ask for it in the message.',
  },
  stop: { isMeant: isFilled, why: 'A task ends when its work is done, not at a word.' },
  modalities: {
    isMeant: (value) => Array.isArray(value) && value.some((kind) => kind !== 'text'),
    why: 'Answers are text.',
  },
  audio: { isMeant: isAsked, why: 'Answers are text.' },
};

/** @throws AppError `openai.unsupported-parameter` (400) naming the first parameter that cannot be honoured. */
export function refuseUnsupported(request: ChatRequest): void {
  for (const [parameter, { isMeant, why }] of Object.entries(UNSUPPORTED)) {
    if (!isMeant(request[parameter])) continue;
    throw new AppError('openai.unsupported-parameter', `\`${parameter}\` is not supported. ${why}`, {
      errors: [{ path: parameter, message: why }],
    });
  }
}
