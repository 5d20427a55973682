import { AISDKError, APICallError } from '@ai-sdk/provider';
import { cutText } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import { ModelError } from './model.ts';
import type { RetryReason } from './model.ts';
import { readRetryAfter } from './retry-after.ts';
import { StreamCut, StreamStalled } from './turn-failure.ts';
import type { TurnFailure } from './turn-failure.ts';

/**
 * Judges what an attempt threw. `null` for anything that is no failure of a model (the caller's own abort, a hook that
 * threw, a defect): it is thrown on as it is.
 */
export function classifyFailure(error: unknown, modelId: string, now: number): TurnFailure | null {
  if (error instanceof ModelError) return { then: 'stop', error };
  if (error instanceof StreamStalled) return retry('stalled', `${modelId} went silent: ${error.message}`);
  if (error instanceof StreamCut) return retry('cut', `${modelId}: ${error.message}`);
  const answer = readAnswer(error);
  if (answer === null) return null;
  const text = `${answer.type} ${answer.code} ${answer.message} ${answer.body}`;
  return classifyAnswer({ ...answer, text }, modelId, now);
}

/** What a provider said when it did not give an answer, whether as an HTTP status or inside a stream. */
interface FailedAnswer {
  status: number | undefined;
  type: string;
  code: string;
  message: string;
  body: string;
  headers: Record<string, string>;
}

function readAnswer(error: unknown): FailedAnswer | null {
  if (APICallError.isInstance(error)) {
    return {
      status: error.statusCode,
      type: '',
      code: '',
      message: error.message,
      body: error.responseBody ?? '',
      headers: error.responseHeaders ?? {},
    };
  }
  // A chunk that is no JSON or not what the provider documents: the stream is broken.
  if (AISDKError.isInstance(error)) return { ...NOTHING, status: 200, message: error.message };
  if (error instanceof TypeError && isNetworkCause(error)) return { ...NOTHING, message: error.message };
  return readStreamError(error);
}

const NOTHING: FailedAnswer = { status: undefined, type: '', code: '', message: '', body: '', headers: {} };

function isNetworkCause(error: Error): boolean {
  return /fetch failed|terminated|network|socket/iu.test(error.message) || error.cause instanceof Error;
}

/** `ECONNRESET`, `UND_ERR_SOCKET` and their like. */
const SYSTEM_CODE = /^(?:E[A-Z]{3,}|UND_ERR_\w+)$/u;

/** An error frame inside a stream, as the provider packages hand it on: a plain object or an error with these fields. */
function readStreamError(error: unknown): FailedAnswer | null {
  if (typeof error !== 'object' || error === null) return null;
  const frame = error as { message?: unknown; type?: unknown; code?: unknown; statusCode?: unknown };
  if (typeof frame.message !== 'string') return null;
  if (error instanceof Error && SYSTEM_CODE.test(String(frame.code)))
    return { ...NOTHING, message: frame.message };
  if (error instanceof Error && frame.statusCode === undefined && frame.type === undefined) return null;
  const type = typeof frame.type === 'string' ? frame.type : '';
  const code = typeof frame.code === 'string' || typeof frame.code === 'number' ? String(frame.code) : '';
  const status = typeof frame.statusCode === 'number' ? frame.statusCode : statusOf(code, type);
  return { ...NOTHING, status, type, code, message: frame.message };
}

function statusOf(code: string, type: string): number {
  if (/^[45]\d\d$/u.test(code)) return Number(code);
  const words = `${code} ${type}`;
  if (/rate.?limit|insufficient_quota/iu.test(words)) return 429;
  if (/overload/iu.test(words)) return 529;
  if (/context_length|invalid_request/iu.test(words)) return 400;
  return 500;
}

function classifyAnswer(answer: FailedAnswer & { text: string }, modelId: string, now: number): TurnFailure {
  const { status, text } = answer;
  const said = cutText(maskSecrets(answer.message).replace(/\s+/gu, ' ').trim(), 300) || 'no reason given';
  if (status === undefined) return retry('network', `${modelId} cannot be reached: ${said}`);
  if (status < 400) return retry('cut', `${modelId} broke off its answer: ${said}`);
  if (QUOTA.test(text) || status === 402) return fallback('model.quota', modelId, said, HINT_QUOTA);
  if (status !== 429 && status !== 401 && status !== 403 && IMAGES_REFUSED.test(text)) {
    return stop('model.images-refused', `${modelId} did not take a picture (${status}): ${said}`);
  }
  const askedMs = readRetryAfter(answer.headers, answer.body, now);
  if (status === 529 || status === 503 || /overloaded/iu.test(text)) {
    const message = `${modelId} is overloaded (${status}), which is not a limit of yours: ${said}`;
    return { then: 'retry', reason: 'overloaded', status, askedMs, message };
  }
  if (status === 429 && /request too large/iu.test(text)) {
    // One request asks for more tokens than a minute allows: no waiting mends that, a shorter one does.
    return stop('model.context-overflow', `The request is too long for ${modelId}: ${said}`, HINT_OVERFLOW);
  }
  if (status === 429) {
    const message = `${modelId} limits how often you may call it (429): ${said}`;
    return { then: 'retry', reason: 'rate-limit', status, askedMs, message };
  }
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    return {
      then: 'retry',
      reason: 'server',
      status,
      askedMs,
      message: `${modelId} failed (${status}): ${said}`,
    };
  }
  return classifyRefusal(status, text, modelId, said);
}

function classifyRefusal(status: number, text: string, modelId: string, said: string): TurnFailure {
  if (OVERFLOW.test(text)) {
    return stop('model.context-overflow', `The request is too long for ${modelId}: ${said}`, HINT_OVERFLOW);
  }
  if (REFUSED.test(text)) {
    return stop('model.refused', `${modelId} refuses the request: ${said}`, 'Rephrase the request.');
  }
  if (status === 401 || status === 403 || /api key not valid|invalid.{0,4}api.?key/iu.test(text)) {
    return fallback('model.auth', modelId, said, hintKey(modelId), status);
  }
  if (status === 404) {
    return fallback('model.not-found', modelId, said, 'Check the name of the model.', status);
  }
  return stop('model.bad-request', `${modelId} did not accept the request (${status}): ${said}`);
}

/** A script or a recording (`script:FILE`, `replay:FILE`) has no key to check: its file says what it answers. */
function hintKey(modelId: string): string {
  return FILE_MODEL.test(modelId)
    ? 'Its file has this refusal as the answer: change the file, or set another model.'
    : `Check the key for ${modelId.split('/')[0]}.`;
}
const FILE_MODEL = /^(?:script|replay):/u;

/** Out of money is told as 429 or 400, but no waiting mends it. */
const QUOTA =
  /insufficient_quota|exceeded your current quota, please check|credit balance is too low|billing_hard_limit/iu;
const HINT_QUOTA = 'Top up the account, or set another model.';

/** Models without eyes, and pictures that a provider cannot read: `image input is not supported`, `does not support image_url`. */
const IMAGES_REFUSED =
  /\b(?:images?|image_url|vision|multimodal)\b.{0,60}(?:exceeds?\b|does not match|not (?:supported|allowed|available|enabled|valid)|unsupported|invalid|mmproj)|(?:not|n't|no endpoints found that|only) supports?\b.{0,40}\b(?:images?|image_url|vision|multimodal|text input)|(?:unsupported|invalid|could not process|unable to process|failed to (?:process|decode|load)).{0,40}\bimages?\b/iu;

const OVERFLOW =
  /context_length_exceeded|context.{0,10}(?:length|window|limit|size)|prompt is too long|input is too long|too many (?:input )?tokens|token count.{0,40}exceeds|maximum.{0,20}tokens|request_too_large|exceeds?.{0,20}context/iu;
const HINT_OVERFLOW = 'Shorten the conversation, or use a model with a larger window.';

const REFUSED =
  /content_policy|content.?filter|invalid_prompt|moderation|prohibited_content|safety (?:system|policy)/iu;

function retry(reason: RetryReason, message: string): TurnFailure {
  return { then: 'retry', reason, askedMs: null, message };
}

function fallback(code: string, modelId: string, said: string, hint: string, status?: number): TurnFailure {
  const what = status === undefined ? '' : ` (${status})`;
  return { then: 'fallback', error: new ModelError(code, `${modelId} cannot be used${what}: ${said}`, hint) };
}

function stop(code: string, message: string, hint?: string): TurnFailure {
  return { then: 'stop', error: new ModelError(code, message, hint) };
}
