import { APICallError } from '@ai-sdk/provider';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { ModelError } from '../model.ts';
import { streamOf } from '../stream-of.ts';
import { cassetteAbout, cassetteLine } from './cassette-line.ts';
import type { CassetteLine, RecordedRequest } from './cassette-line.ts';
import { describeDifference } from './describe-difference.ts';
import { conversationOf, describeRequest, digestOf } from './describe-request.ts';

/**
 * Plays a recording (`replay:FILE.jsonl`) with no network. Every request must be one that was recorded; the same request
 * twice (a retry) gets its recorded answers in order. Since a request holds its whole history this keeps the
 * order within each conversation, and lets parallel tasks run in any order. The first request that was not
 * recorded fails with `model.divergence` and shows both sides. `maskSecrets` is the one used when recording.
 * Throws `model.script` for a file that is no recording.
 */
export function openCassette(
  text: string,
  file: string,
  maskSecrets: (text: string) => string,
): { language: LanguageModelV4; limits: CassetteLine['limits'] | null } {
  const lines = readLines(text, file);
  return { language: new ReplayModel(lines, file, maskSecrets), limits: lines[0]?.limits ?? null };
}

function readLines(text: string, file: string): CassetteLine[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const value: unknown = JSON.parse(line);
      return index === 0 && cassetteAbout.safeParse(value).success ? [] : [cassetteLine.parse(value)];
    } catch {
      const what = `Line ${index + 1} of ${file} is no recorded call.`;
      throw new ModelError('model.script', what, 'Record the session again.');
    }
  });
}

class ReplayModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = 'replay';
  readonly modelId: string;
  readonly supportedUrls = {};
  readonly #lines: CassetteLine[];
  readonly #waiting = new Map<string, CassetteLine[]>();
  readonly #mask: (text: string) => string;

  constructor(lines: CassetteLine[], file: string, mask: (text: string) => string) {
    this.modelId = file;
    this.#lines = lines;
    this.#mask = mask;
    for (const [digest, same] of Map.groupBy(lines, (line) => line.digest)) {
      // Where another model took over, its tries alone are played: here there is one model only.
      const last = same.at(-1)?.model;
      this.#waiting.set(
        digest,
        same.filter((line) => line.error === undefined || line.model === last),
      );
    }
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    options.abortSignal?.throwIfAborted();
    const request = describeRequest(options, this.#mask);
    const line = this.#waiting.get(digestOf(request))?.shift();
    if (line === undefined) throw this.#diverged(request);
    if (line.error !== undefined && line.parts.length === 0) throw failureOf(line.error, this.modelId);
    return { stream: streamOf(play(line, this.modelId, options.abortSignal), options.abortSignal) };
  }

  doGenerate(): Promise<never> {
    return Promise.reject(new Error('A recording only streams.'));
  }

  #diverged(request: RecordedRequest): ModelError {
    const closest = this.#closest(request);
    const difference = closest === null ? null : describeDifference(closest.request, request);
    const what =
      closest === null
        ? 'nothing is left on the recording'
        : (difference ?? 'the same request was recorded fewer times than it is made now');
    const message = `The run differs from the recording ${this.modelId}: ${what}`;
    const hint =
      'Replay with the folders that it was recorded with (--path); record the session again if the change is meant.';
    return new ModelError('model.divergence', message, hint);
  }

  /** The recorded request that this one was most likely meant to be: same conversation, then same length. */
  #closest(request: RecordedRequest): CassetteLine | null {
    const conversation = conversationOf(request);
    const isUnused = (line: CassetteLine): boolean => this.#waiting.get(line.digest)?.includes(line) ?? false;
    const own = this.#lines.filter((line) => line.conversation === conversation);
    const unused = (own.length > 0 ? own : this.#lines).filter(isUnused);
    const pool = unused.length > 0 ? unused : own;
    const length = request.prompt.length;
    return pool.find((line) => line.request.prompt.length === length) ?? pool[0] ?? null;
  }
}

async function* play(
  line: CassetteLine,
  file: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  for (const part of line.parts) yield part as unknown as LanguageModelV4StreamPart;
  if (line.isAbandoned) await aborted(signal);
  if (line.error !== undefined) throw failureOf(line.error, file);
}

function failureOf(error: NonNullable<CassetteLine['error']>, file: string): APICallError {
  return new APICallError({
    message: error.message,
    url: `replay:${file}`,
    requestBodyValues: {},
    ...(error.status === null ? {} : { statusCode: error.status }),
    responseHeaders: error.headers,
    responseBody: error.body,
  });
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal?.reason as Error);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
