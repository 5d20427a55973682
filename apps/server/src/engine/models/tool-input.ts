import { cutMiddle } from '../../kernel/text/cut.ts';
import { mapStrings } from '../../kernel/text/storable.ts';
import type { AssistantPart } from './model.ts';

/** The longest argument text of one call, in UTF-16 units. Larger contents belong into files. */
export const MAX_TOOL_INPUT = 1_048_576;

/** What the arguments of a call are: an object, or what is wrong with them in words for the model. */
export type ToolInput = { input: Record<string, unknown> } | { problem: string };

/**
 * Reads the argument text of a tool call. Nothing at all and `null` count as no arguments. The tool's own schema is
 * not looked at; the result is an object with plain own properties and well-formed strings.
 */
export function parseToolInput(raw: string): ToolInput {
  if (raw.trim() === '') return { input: {} };
  if (raw.length > MAX_TOOL_INPUT) {
    return { problem: `the arguments have ${raw.length} characters; at most ${MAX_TOOL_INPUT} are allowed` };
  }
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    return { problem: `the arguments are not valid JSON: ${(error as Error).message}` };
  }
  if (value === null) return { input: {} };
  if (typeof value !== 'object' || Array.isArray(value)) {
    const kind = Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    return { problem: `the arguments must be a JSON object, but they are ${kind}` };
  }
  if (raw.includes('__proto__') && hasProtoKey(value)) {
    return { problem: 'the arguments hold the key "__proto__", which is not allowed' };
  }
  return { input: mapStrings(value, (text) => text.toWellFormed()) as Record<string, unknown> };
}

function hasProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProtoKey);
}

type ToolCallPart = Extract<AssistantPart, { type: 'tool-call' }>;

/** A call in an assistant message, judged: `problem` says why it must not run. */
export interface TurnCall {
  callId: string;
  toolName: string;
  input: Record<string, unknown>;
  problem: string | null;
}

/**
 * The part of the assistant message for one call. Providers take back objects only, so arguments that cannot be used
 * become `{}`, and what they were and what is wrong with them are kept under `providerOptions.vitto`.
 */
export function makeToolCallPart(call: {
  toolCallId: string;
  toolName: string;
  input: string;
  providerExecuted?: boolean | undefined;
  providerMetadata?: ToolCallPart['providerOptions'];
}): ToolCallPart {
  const read = parseToolInput(call.input);
  const own =
    'problem' in read
      ? { vitto: { problem: read.problem, rawInput: cutMiddle(call.input.toWellFormed(), 2_000).text } }
      : {};
  const providerOptions = { ...call.providerMetadata, ...own };
  return {
    type: 'tool-call',
    toolCallId: call.toolCallId,
    toolName: call.toolName.toWellFormed(),
    input: 'problem' in read ? {} : read.input,
    ...(call.providerExecuted === undefined ? {} : { providerExecuted: call.providerExecuted }),
    ...(Object.keys(providerOptions).length === 0 ? {} : { providerOptions }),
  };
}

/** The calls of an assistant message that the engine has to run, in order; also of one read back from the journal. */
export function readToolCalls(content: readonly AssistantPart[]): TurnCall[] {
  return content
    .filter((part) => part.type === 'tool-call' && part.providerExecuted !== true)
    .map((part) => {
      const call = part as ToolCallPart;
      const problem = call.providerOptions?.['vitto']?.['problem'];
      return {
        callId: call.toolCallId,
        toolName: call.toolName,
        input: call.input as Record<string, unknown>,
        problem: typeof problem === 'string' ? problem : null,
      };
    });
}
