import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { ProviderName } from './providers.ts';

type Options = LanguageModelV4CallOptions;

/**
 * The same model with every request fitted to its provider, in this one place: prompt caching, nothing stored on
 * the provider's side, and no reasoning of another provider in the history.
 */
export function fitRequests(
  language: LanguageModelV4,
  provider: ProviderName,
  modelId: string,
): LanguageModelV4 {
  const fit = (options: Options): Options => prepareRequest(options, provider, modelId);
  return {
    specificationVersion: 'v4',
    provider: language.provider,
    modelId: language.modelId,
    supportedUrls: language.supportedUrls,
    doGenerate: (options) => language.doGenerate(fit(options)),
    doStream: async (options) => {
      const result = await language.doStream(fit(options));
      return provider === 'openrouter' ? { ...result, stream: result.stream.pipeThrough(markCut()) } : result;
    },
  };
}

/** Other packages say that a stream ended unfinished; OpenRouter's calls it finished by its tool calls. */
function markCut(): TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart> {
  return new TransformStream({
    transform(part, controller) {
      const isCut = part.type === 'finish' && part.finishReason.raw === undefined;
      controller.enqueue(
        isCut ? { ...part, finishReason: { unified: 'interrupted', raw: undefined } } : part,
      );
    },
  });
}

export function prepareRequest(options: Options, provider: ProviderName, modelId: string): Options {
  const own = { ...options, prompt: dropForeignReasoning(options.prompt, provider) };
  // Without storage the encrypted reasoning comes back with each answer, so a task can resume anywhere.
  if (provider === 'openai') return withProviderOption(own, 'openai', { store: false });
  const isAnthropics =
    provider === 'anthropic' || (provider === 'openrouter' && modelId.startsWith('anthropic/'));
  return isAnthropics ? withPromptCaching(own) : own;
}

/**
 * Reasoning is signed by the provider that made it, and another one refuses it or reads it as its own. Parts are marked
 * with their provider when a turn is collected. A message that held nothing else goes too.
 */
function dropForeignReasoning(prompt: Options['prompt'], provider: ProviderName): Options['prompt'] {
  return prompt.flatMap((message): LanguageModelV4Message[] => {
    if (message.role !== 'assistant') return [message];
    const content = message.content.filter(
      (part) => part.type !== 'reasoning' || part.providerOptions?.['vitto']?.['from'] === provider,
    );
    if (content.length === message.content.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

const CACHE = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * Marks what Anthropic may cache, with its four breakpoints: the tools, the system prompt, and the last two messages
 * that we sent, so that each step finds what the step before has written.
 */
export function withPromptCaching(options: Options): Options {
  const system = options.prompt.findLastIndex((message) => message.role === 'system');
  const ours = options.prompt.flatMap(({ role }, index) =>
    role === 'user' || role === 'tool' ? [index] : [],
  );
  const marked = new Set([system, ...ours.slice(-2)]);
  const prompt = options.prompt.map((message, index) =>
    marked.has(index) ? withCacheMark(message) : message,
  );
  const tools = options.tools?.map((tool, index, all) =>
    index === all.length - 1 && tool.type === 'function' ? withCacheMark(tool) : tool,
  );
  return { ...options, prompt, ...(tools === undefined ? {} : { tools }) };
}

function withCacheMark<T extends { providerOptions?: Options['providerOptions'] }>(item: T): T {
  const anthropic = { ...item.providerOptions?.['anthropic'], ...CACHE.anthropic };
  return { ...item, providerOptions: { ...item.providerOptions, anthropic } };
}

function withProviderOption(
  options: Options,
  provider: string,
  fields: Record<string, boolean | string>,
): Options {
  const own = { ...fields, ...options.providerOptions?.[provider] };
  return { ...options, providerOptions: { ...options.providerOptions, [provider]: own } };
}
