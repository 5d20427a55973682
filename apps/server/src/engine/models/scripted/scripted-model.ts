import { createHash } from 'node:crypto';
import { APICallError } from '@ai-sdk/provider';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { Clock } from '../../../kernel/clock.ts';
import { estimateTokens } from '../read-usage.ts';
import { streamOf } from '../stream-of.ts';
import { fillTemplate } from './fill-template.ts';
import { findAnswer } from './find-answer.ts';
import type { FoundAnswer } from './find-answer.ts';
import type { Answer, Fault, Script } from './script-schema.ts';

type Part = LanguageModelV4StreamPart;

/**
 * Plays a script through the same interface as a provider. Faults are thrown as a provider's package throws
 * them, so that they take the same way. All but the count of faults met is worked out from the request.
 */
export class ScriptedModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = 'script';
  readonly modelId: string;
  readonly supportedUrls = {};
  readonly #script: Script;
  readonly #clock: Clock;
  /** Tries of a turn that has faults, by the digest of its request. */
  readonly #tries = new Map<string, number>();

  constructor(script: Script, file: string, clock: Clock) {
    this.#script = script;
    this.modelId = file;
    this.#clock = clock;
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    options.abortSignal?.throwIfAborted();
    const found = findAnswer(this.#script, this.modelId, options);
    const fault = this.#nextFault(found.answer, options);
    if (fault !== null) throwBeforeStream(fault, this.modelId);
    return { stream: streamOf(this.#play(found, fault, options), options.abortSignal) };
  }

  doGenerate(): Promise<never> {
    return Promise.reject(new Error('The scripted model only streams.'));
  }

  #nextFault(answer: Answer, options: LanguageModelV4CallOptions): Fault | null {
    if (answer.faults === undefined) return null;
    const key = createHash('sha256').update(JSON.stringify(options.prompt)).digest('hex');
    const tries = this.#tries.get(key) ?? 0;
    this.#tries.set(key, tries + 1);
    return answer.faults[tries] ?? null;
  }

  async *#play(
    found: FoundAnswer,
    fault: Fault | null,
    options: LanguageModelV4CallOptions,
  ): AsyncGenerator<Part> {
    const { answer, captured } = found;
    const signal = options.abortSignal;
    yield { type: 'stream-start', warnings: [] };
    if (answer.delayMs) await this.#clock.sleep(answer.delayMs, signal);
    yield { type: 'response-metadata', modelId: this.modelId };
    if (fault !== null && 'kind' in fault) {
      yield* this.#breakOff(fault, fillTemplate(answer.text ?? '', captured), signal);
      return;
    }
    if (answer.reasoning !== undefined) {
      yield* this.#say('reasoning', fillTemplate(answer.reasoning, captured), answer, signal);
    }
    if (answer.text !== undefined)
      yield* this.#say('text', fillTemplate(answer.text, captured), answer, signal);
    const calls = makeCalls(found, options);
    yield* calls;
    yield makeFinish(answer, calls, options);
  }

  async *#say(
    kind: 'text' | 'reasoning',
    text: string,
    { stream }: Answer,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Part> {
    yield { type: `${kind}-start`, id: kind };
    const size = stream?.size ?? Math.max(1, text.length);
    for (let start = 0; start < text.length; start += size) {
      if (start > 0 && stream?.everyMs) await this.#clock.sleep(stream.everyMs, signal);
      yield { type: `${kind}-delta`, id: kind, delta: text.slice(start, start + size) };
    }
    yield { type: `${kind}-end`, id: kind };
  }

  async *#breakOff(
    { kind, after }: Extract<Fault, { kind: string }>,
    text: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Part> {
    yield { type: 'text-start', id: 'text' };
    if (after > 0) yield { type: 'text-delta', id: 'text', delta: text.slice(0, after) };
    // For ever, in pieces that a timer can hold.
    while (kind === 'stall') await this.#clock.sleep(3_600_000, signal);
    if (kind === 'cut') {
      throw new APICallError({ ...callOf(this.modelId), message: 'The connection broke.', statusCode: 200 });
    }
  }
}

function callOf(file: string): { url: string; requestBodyValues: unknown } {
  return { url: `script:${file}`, requestBodyValues: {} };
}

function throwBeforeStream(fault: Fault, file: string): void {
  if ('status' in fault) {
    const message = fault.message ?? `The script answers with ${fault.status}.`;
    const { status: statusCode, headers: responseHeaders = {} } = fault;
    throw new APICallError({ ...callOf(file), message, statusCode, responseHeaders, responseBody: message });
  }
  if (fault.kind === 'network') {
    throw new APICallError({ ...callOf(file), message: 'Cannot connect to the API.', isRetryable: true });
  }
}

function makeCalls({ answer, captured }: FoundAnswer, options: LanguageModelV4CallOptions) {
  const turn = options.prompt.filter(({ role }) => role === 'assistant').length + 1;
  return (answer.calls ?? []).map((call, index) => ({
    type: 'tool-call' as const,
    toolCallId: call.id ?? `call_${turn}_${index + 1}`,
    toolName: call.tool,
    input:
      call.rawArguments === undefined
        ? JSON.stringify(fillTemplate(call.arguments ?? {}, captured))
        : fillTemplate(call.rawArguments, captured),
  }));
}

function makeFinish(answer: Answer, calls: unknown[], options: LanguageModelV4CallOptions): Part {
  const told = answer.usage;
  const output = told?.output ?? estimateTokens([answer.text, answer.reasoning, calls]);
  const input = told?.input ?? estimateTokens([options.prompt, options.tools ?? []]);
  const cacheRead = told?.cachedInput ?? 0;
  const cacheWrite = told?.cacheWrite ?? 0;
  const reasoning = told?.reasoning ?? 0;
  const unified = answer.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop');
  return {
    type: 'finish',
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: {
        total: input,
        noCache: Math.max(0, input - cacheRead - cacheWrite),
        cacheRead,
        cacheWrite,
      },
      outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning },
    },
  };
}
