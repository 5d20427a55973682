import type {
  LanguageModelV4,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';

/** The tool that every measured loop offers, and what the model says at the end. */
export const TOOL = { name: 'lookup', description: 'Looks up the value of a key.' };
export const SYSTEM_PROMPT = 'You look up values.';
export const USER_PROMPT = 'Look up the values, one after the other.';
export const FINAL_TEXT = 'All values were looked up.';

export function toolInput(step: number): { key: string } {
  return { key: `key-${step}` };
}
export function toolResult(input: { key: string }): string {
  return `value of ${input.key}`;
}

const USAGE: LanguageModelV4Usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};

/**
 * A model that answers at once: `steps` turns with one tool call each, then a last one with text alone. It counts its
 * own turns, so one is made for each run. The loops that take a `LanguageModelV4` all get this very object.
 */
export function createInstantModel(steps: number): LanguageModelV4 {
  let turn = 0;
  const next = (): { content: LanguageModelV4Content; finishReason: LanguageModelV4FinishReason } => {
    turn += 1;
    return turn <= steps
      ? {
          content: {
            type: 'tool-call',
            toolCallId: `call-${turn}`,
            toolName: TOOL.name,
            input: JSON.stringify(toolInput(turn)),
          },
          finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        }
      : { content: { type: 'text', text: FINAL_TEXT }, finishReason: { unified: 'stop', raw: 'stop' } };
  };
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'instant',
    supportedUrls: {},
    doGenerate: async () => {
      const { content, finishReason } = next();
      return { content: [content], finishReason, usage: USAGE, warnings: [] };
    },
    doStream: async () => {
      const { content, finishReason } = next();
      return { stream: toStream([...partsOf(content), { type: 'finish', finishReason, usage: USAGE }]) };
    },
  };
}

function partsOf(content: LanguageModelV4Content): LanguageModelV4StreamPart[] {
  const start: LanguageModelV4StreamPart = { type: 'stream-start', warnings: [] };
  if (content.type === 'tool-call') {
    const { toolCallId: id, toolName, input } = content;
    return [
      start,
      { type: 'tool-input-start', id, toolName },
      { type: 'tool-input-delta', id, delta: input },
      { type: 'tool-input-end', id },
      content,
    ];
  }
  const text = content.type === 'text' ? content.text : '';
  return [
    start,
    { type: 'text-start', id: 'text' },
    { type: 'text-delta', id: 'text', delta: text },
    { type: 'text-end', id: 'text' },
  ];
}

function toStream(parts: LanguageModelV4StreamPart[]): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
