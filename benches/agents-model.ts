import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Model } from '../apps/server/src/engine/models/model.ts';
import { FINAL_TEXT, TOOL, toolInput } from './instant-model.ts';

/** What a task is told to do, as JSON in its first message: so many turns with a read, or a round of sub-Vittos. */
export type Work = { reads: number } | { deploy: number; each: Work };

const USAGE = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};

/** A model that answers at once and keeps nothing: which turn it is at is read from the messages, for all tasks. */
export function createAgentsModel(): Model {
  const language: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used here')),
    doStream: (options) => Promise.resolve({ stream: ReadableStream.from(answer(options)) }),
  };
  return {
    id: 'bench/instant',
    language,
    // With a price, so that money is reserved and booked as for a paid model.
    price: { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
    contextWindow: 1_000_000,
    maxOutputTokens: 8_000,
    isScripted: false,
    limiterKey: 'bench',
  };
}

function answer({ prompt }: LanguageModelV4CallOptions): LanguageModelV4StreamPart[] {
  const [first] = prompt.find((message) => message.role === 'user')?.content ?? [];
  if (typeof first !== 'object' || first.type !== 'text') throw new Error('a task without a first message');
  const work = JSON.parse(first.text) as Work;
  const step = prompt.filter((message) => message.role === 'tool').length + 1;
  if ('reads' in work) return step <= work.reads ? call(step, TOOL.name, toolInput(step)) : text();
  if (step > 1) return text();
  const task = { description: JSON.stringify(work.each), tier: 'in-process' };
  return call(step, 'deploy_agents', { tasks: Array.from({ length: work.deploy }, () => task) });
}

function call(step: number, toolName: string, input: object): LanguageModelV4StreamPart[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-call', toolCallId: `call-${step}`, toolName, input: JSON.stringify(input) },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage: USAGE },
  ];
}

function text(): LanguageModelV4StreamPart[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 'text' },
    { type: 'text-delta', id: 'text', delta: FINAL_TEXT },
    { type: 'text-end', id: 'text' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: USAGE },
  ];
}
