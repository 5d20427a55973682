import type { TaskState } from '@vitto/contracts';
import type { AnswerUsage } from './answer.ts';

/** What a completion belongs to, beside the format of OpenAI. */
export interface VittoField {
  task_id: string;
  conversation_id: string;
  state: TaskState;
}

export interface CompletionHead {
  id: string;
  /** Seconds since 1970. */
  created: number;
  model: string;
}

export function toUsage(usage: AnswerUsage) {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

/** The whole answer at once. */
export function toCompletion(head: CompletionHead, text: string, usage: AnswerUsage, vitto: VittoField) {
  return {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: toUsage(usage),
    vitto,
  };
}

export interface ChunkDelta {
  role?: 'assistant';
  content?: string;
}

/** A piece of a streamed answer. With `include_usage` every piece but the last has an empty `usage`. */
export function toChunk(
  head: CompletionHead,
  delta: ChunkDelta,
  options: { isLast: boolean; hasUsage: boolean },
) {
  return {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: options.isLast ? 'stop' : null }],
    ...(options.hasUsage ? { usage: null } : {}),
  };
}

/** The piece after the last, which holds the usage and no text. */
export function toUsageChunk(head: CompletionHead, usage: AnswerUsage) {
  return { ...head, object: 'chat.completion.chunk', choices: [], usage: toUsage(usage) };
}
