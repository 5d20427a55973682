import {
  readKnownEvent,
  type EventEnvelope,
  type EventPayload,
  type KnownEvent,
  type WaitingFor,
} from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import { turnText } from '../turn-text.ts';

/** How the answer ended. */
export type AnswerEnd =
  | { kind: 'completed' }
  | { kind: 'waiting'; state: 'waiting_approval' | 'waiting_input'; waitingFor: WaitingFor }
  | { kind: 'failed'; error: AppError };

export interface AnswerUsage {
  prompt: number;
  cached: number;
  completion: number;
  reasoning: number;
}

/**
 * The answer to a chat completion, folded from the events of its task: the text of all turns that counted, and the
 * report the task ended with unless a turn has said it. Nothing of it can be taken back once it is sent, so the text
 * of an attempt that was given up is never followed by the text of the next one.
 */
export class Answer {
  /** Live: text is given out while it is written. Else a turn is given out when it counts. */
  readonly #isLive: boolean;
  /** Deltas are left out until the next turn counts. */
  #isHeld: boolean;
  /** What was given out of the turn that is being written. */
  #turn = '';
  /** The turns that counted. */
  readonly #turns: string[] = [];
  /** True once there is any text. */
  hasText = false;
  readonly approvals = new Map<string, EventPayload<'approval.requested'>>();
  readonly usage: AnswerUsage = { prompt: 0, cached: 0, completion: 0, reasoning: 0 };
  end: AnswerEnd | null = null;

  /** @param options.isJoining the task was at work before, perhaps in the middle of a turn. */
  constructor(options: { isLive: boolean; isJoining: boolean }) {
    this.#isLive = options.isLive;
    this.#isHeld = options.isJoining;
  }

  /**
   * @returns the text that an event adds to the answer.
   * @throws AppError `openai.answer-restarted` when what was given out does not count after all.
   */
  apply(envelope: EventEnvelope): string {
    const event = readKnownEvent(envelope);
    if (event === null || this.end !== null) return '';
    switch (event.type) {
      case 'agent.text':
        return this.#isLive && !this.#isHeld ? this.#give(event.payload.delta) : '';
      case 'model.retry':
      case 'model.fallback':
      case 'task.resumed':
        if (this.#turn !== '') this.#isHeld = true;
        return '';
      case 'agent.turn_completed':
        return this.#completeTurn(event.payload);
      case 'approval.requested':
        this.approvals.set(event.payload.approvalId, event.payload);
        return '';
      default:
        return this.#applyState(event);
    }
  }

  #applyState(event: KnownEvent): string {
    switch (event.type) {
      case 'task.parked': {
        const { state, waitingFor } = event.payload;
        if (state !== 'waiting_children') this.end = { kind: 'waiting', state, waitingFor };
        return '';
      }
      case 'task.completed':
        this.end = { kind: 'completed' };
        return this.#giveReport(event.payload.result);
      case 'task.failed':
        this.end = { kind: 'failed', error: toFailure(event.payload.error) };
        return '';
      case 'task.cancelled':
        this.end = { kind: 'failed', error: cancelled(event.payload.by) };
        return '';
      default:
        return '';
    }
  }

  #completeTurn(payload: EventPayload<'agent.turn_completed'>): string {
    const { usage } = payload;
    this.usage.prompt += usage.inputTokens;
    this.usage.cached += usage.cachedInputTokens;
    this.usage.completion += usage.outputTokens;
    this.usage.reasoning += usage.reasoningTokens;
    const text = turnText(payload);
    if (!text.startsWith(this.#turn)) throw restarted();
    const rest = text.slice(this.#turn.length);
    // White space alone before a call is no passage of its own.
    const given = this.#turn === '' && rest.trim() === '' ? '' : this.#give(rest);
    this.#turn = '';
    this.#isHeld = false;
    this.#turns.push(text.trim());
    return given;
  }

  #giveReport(result: string): string {
    if (this.#turn !== '') throw restarted();
    return result.trim() === '' || this.#turns.includes(result.trim()) ? '' : this.#give(result);
  }

  /** Turns are passages: a blank line stands between them. */
  #give(text: string): string {
    if (text === '') return '';
    const separator = this.#turn === '' && this.hasText ? '\n\n' : '';
    this.#turn += text;
    this.hasText = true;
    return `${separator}${text}`;
  }
}

function restarted(): AppError {
  return new AppError(
    'openai.answer-restarted',
    'The model broke off in the middle of its answer and began anew: what was sent of it does not count.',
    { status: 422, hint: 'The task goes on; its whole answer will stand there.' },
  );
}

function toFailure(error: EventPayload<'task.failed'>['error']): AppError {
  const hint = typeof error['summary'] === 'string' ? `${error.hint ?? ''} ${error['summary']}` : error.hint;
  return new AppError(error.code, error.message, {
    status: 422,
    ...(hint === undefined ? {} : { hint: hint.trim() }),
  });
}

function cancelled(by: string): AppError {
  return new AppError('task.cancelled', `The task was cancelled (${by}).`, { status: 422 });
}
