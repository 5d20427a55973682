import { createHash } from 'node:crypto';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import canonicalize from 'canonicalize';
import { mapStrings } from '../../../kernel/text/storable.ts';
import type { RecordedRequest } from './cassette-line.ts';

/**
 * A request as cassettes know it. Secrets are masked, and what differs from run to run without meaning
 * anything is named instead: UUIDs by the order in which they turn up, ISO dates and times, milliseconds
 * since the epoch, and durations in `ms`. Headers, signals, the bound of the answer and our mark of whose
 * reasoning it is are no part of it.
 */
export function describeRequest(
  options: LanguageModelV4CallOptions,
  maskSecrets: (text: string) => string,
): RecordedRequest {
  const {
    prompt,
    tools,
    abortSignal: _signal,
    headers: _headers,
    includeRawChunks: _raw,
    ...settings
  } = options;
  const name = namer();
  const plain: unknown = JSON.parse(JSON.stringify({ prompt, tools: tools ?? [], settings }, withoutMark));
  return mapStrings(plain, (text) => name(maskSecrets(text))) as RecordedRequest;
}

/**
 * Reasoning that a replay gives is marked as the replay's, where the recording had the provider's name. Of a file's
 * bytes the digest is kept: that says as well whether they are the same.
 */
function withoutMark(key: string, value: unknown): unknown {
  if (isFileData(value)) return { type: 'data', data: `sha256:${digestOf(value.data)}` };
  if (key !== 'providerOptions' || typeof value !== 'object' || value === null) return value;
  const { vitto, ...others } = value as Record<string, Record<string, unknown>>;
  const { from: _from, ...own } = vitto ?? {};
  const kept = Object.keys(own).length === 0 ? others : { ...others, vitto: own };
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function isFileData(value: unknown): value is { data: string } {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown };
  return type === 'data' && typeof data === 'string';
}

/** SHA-256 over the canonical JSON of a value. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex');
}

/** The conversation that a request belongs to: what stands in it before the first assistant message. */
export function conversationOf(request: RecordedRequest): string {
  const end = request.prompt.findIndex(({ role }) => role === 'assistant');
  return digestOf(end < 0 ? request.prompt : request.prompt.slice(0, end));
}

const VOLATILE =
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\b1[5-9]\d{11}\b|\b\d+(?:\.\d+)? ?ms\b/giu;

function namer(): (text: string) => string {
  const uuids = new Map<string, string>();
  return (text) =>
    text.replace(VOLATILE, (found) => {
      if (/^[0-9a-f]{8}-[0-9a-f]{4}-/iu.test(found)) {
        const known = uuids.get(found.toLowerCase()) ?? `<uuid ${uuids.size + 1}>`;
        uuids.set(found.toLowerCase(), known);
        return known;
      }
      if (found.endsWith('ms') || found.endsWith('MS')) return '<duration>';
      return '<time>';
    });
}
