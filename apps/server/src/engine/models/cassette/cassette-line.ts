import { z } from 'zod';

/** Headers that say how long to wait: the only ones that are recorded. */
export const WAIT_HEADERS = /^(?:retry-after(?:-ms)?|x-ratelimit-reset.*|anthropic-ratelimit-.*-reset)$/iu;

/** What a request is for the recording: made the same way when it is recorded and when it is replayed. */
export const recordedRequest = z.object({
  prompt: z.array(z.looseObject({ role: z.string() })),
  tools: z.array(z.looseObject({})),
  settings: z.record(z.string(), z.json()),
});
export type RecordedRequest = z.infer<typeof recordedRequest>;

/**
 * What the first line of a cassette may say of the task that was recorded, for whoever starts its replay: the folders
 * that it was allowed to read, which the first request names.
 */
export const cassetteAbout = z.object({
  kind: z.literal('about'),
  version: z.literal(1),
  allowedPaths: z.array(z.string()),
});

/** One call of a model. A cassette is a file of these, one JSON object a line. */
export const cassetteLine = z.object({
  version: z.literal(1),
  model: z.string(),
  /** Sizes of the recorded model in tokens: what is replayed must be compacted at the same places. */
  limits: z.object({ contextWindow: z.number(), maxOutputTokens: z.number() }),
  /** SHA-256 of the request as recorded. */
  digest: z.string(),
  /** SHA-256 of what the conversation began with: lines of parallel tasks are told apart by it. */
  conversation: z.string(),
  request: recordedRequest,
  /** Stream parts as the provider's package gave them. */
  parts: z.array(z.looseObject({ type: z.string() })),
  /** True when the caller gave the call up after these parts: replayed, it waits to be given up. */
  isAbandoned: z.literal(true).optional(),
  /** How the call failed, before or after those parts; absent when it did not. */
  error: z
    .object({
      message: z.string(),
      status: z.number().nullable(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    })
    .optional(),
});
export type CassetteLine = z.infer<typeof cassetteLine>;
