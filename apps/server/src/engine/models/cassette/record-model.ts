import { APICallError } from '@ai-sdk/provider';
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { describeError } from '../../../kernel/app-error.ts';
import { mapStrings } from '../../../kernel/text/storable.ts';
import type { Model } from '../model.ts';
import { streamOf } from '../stream-of.ts';
import { WAIT_HEADERS } from './cassette-line.ts';
import type { CassetteLine } from './cassette-line.ts';
import { conversationOf, describeRequest, digestOf } from './describe-request.ts';

/**
 * Takes one line (without its line break) and resolves when it is safe. It must write line and break in one
 * append, since lines of parallel calls must not mix.
 */
export type CassetteSink = (line: string) => Promise<void>;

/**
 * The same model, with every call written to the sink when it has ended: request, parts, failure. What is recorded passes through `maskSecrets`; headers of requests are never recorded.
 */
export function recordModel(model: Model, sink: CassetteSink, maskSecrets: (text: string) => string): Model {
  const { language } = model;
  const recorder = new Recorder(model, sink, maskSecrets);
  return {
    ...model,
    language: {
      specificationVersion: 'v4',
      provider: language.provider,
      modelId: language.modelId,
      supportedUrls: language.supportedUrls,
      doGenerate: () => Promise.reject(new Error('Only streams are recorded.')),
      doStream: (options) => recorder.stream(options),
    },
  };
}

class Recorder {
  readonly #model: Model;
  readonly #sink: CassetteSink;
  readonly #mask: (text: string) => string;

  constructor(model: Model, sink: CassetteSink, mask: (text: string) => string) {
    this.#model = model;
    this.#sink = sink;
    this.#mask = mask;
  }

  async stream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    try {
      const result = await this.#model.language.doStream(options);
      return { stream: streamOf(this.#pass(result.stream, options), options.abortSignal) };
    } catch (error) {
      await this.#write(options, [], error);
      throw error;
    }
  }

  /** The line is written before the last part is handed on: who has read a finish finds it on the cassette. */
  async *#pass(
    stream: ReadableStream<LanguageModelV4StreamPart>,
    options: LanguageModelV4CallOptions,
  ): AsyncGenerator<LanguageModelV4StreamPart> {
    const parts: LanguageModelV4StreamPart[] = [];
    let isWritten = false;
    try {
      for await (const part of stream) {
        if (part.type !== 'ping' && part.type !== 'raw' && part.type !== 'error') parts.push(part);
        if (part.type === 'finish' || part.type === 'error') {
          isWritten = true;
          await this.#write(options, parts, part.type === 'error' ? part.error : undefined);
        }
        yield part;
      }
      if (!isWritten) await this.#write(options, parts, undefined);
    } catch (error) {
      if (!isWritten) await this.#write(options, parts, error);
      throw error;
    }
  }

  #write(options: LanguageModelV4CallOptions, parts: unknown[], error: unknown): Promise<void> {
    const request = describeRequest(options, this.#mask);
    const { id, contextWindow, maxOutputTokens } = this.#model;
    const line: CassetteLine = {
      version: 1,
      model: id,
      limits: { contextWindow, maxOutputTokens },
      digest: digestOf(request),
      conversation: conversationOf(request),
      request,
      parts: mapStrings(parts, this.#mask) as CassetteLine['parts'],
      ...this.#ending(options, error),
    };
    return this.#sink(JSON.stringify(line).toWellFormed());
  }

  #ending(options: LanguageModelV4CallOptions, error: unknown): Pick<CassetteLine, 'error' | 'isAbandoned'> {
    if (error === undefined) return {};
    if (options.abortSignal?.aborted) return { isAbandoned: true };
    return { error: mapStrings(describeFailure(error), this.#mask) as Failure };
  }
}

type Failure = NonNullable<CassetteLine['error']>;

function describeFailure(error: unknown): Failure {
  if (!APICallError.isInstance(error)) {
    const frame = error as { statusCode?: unknown; message?: unknown } | null;
    const status = typeof frame?.statusCode === 'number' ? frame.statusCode : null;
    const message = typeof frame?.message === 'string' ? frame.message : describeError(error);
    return { message, status, headers: {}, body: '' };
  }
  const headers = Object.entries(error.responseHeaders ?? {}).filter(([name]) => WAIT_HEADERS.test(name));
  return {
    message: error.message,
    status: error.statusCode ?? null,
    headers: Object.fromEntries(headers),
    body: error.responseBody ?? '',
  };
}
