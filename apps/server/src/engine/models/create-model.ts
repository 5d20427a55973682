import { createHash } from 'node:crypto';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import type { Clock } from '../../kernel/clock.ts';
import { openCassette } from './cassette/replay-model.ts';
import { limitsOf } from './model-limits.ts';
import type { ModelLimits } from './model-limits.ts';
import { ModelError } from './model.ts';
import type { Model, Price } from './model.ts';
import type { ModelRef } from './parse-model-list.ts';
import { fitRequests } from './prepare-request.ts';
import { FREE, priceOf } from './prices.ts';
import { hasAccess, OLLAMA_URL, PROVIDER_VARIABLES } from './providers.ts';
import type { ProviderAccess, ProviderName, ProviderSettings } from './providers.ts';
import { readScript } from './scripted/read-script.ts';
import { ScriptedModel } from './scripted/scripted-model.ts';
import { tapFetch } from './signs-of-life.ts';

/** Everything a model reaches of the world. */
export interface ModelResources {
  providers: ProviderSettings;
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** Gives the text of a script or a recording; rejects when there is none. */
  readFile: (file: string) => Promise<string>;
  /** Takes secrets out of a text; the same that masked a recording when it was made. */
  maskSecrets: (text: string) => string;
  /** The user's own prices and sizes by `provider/model`. */
  prices?: Readonly<Record<string, Price | null>>;
  limits?: Readonly<Record<string, Partial<ModelLimits>>>;
}

/**
 * Builds the model that a setting names. Makes no request. Throws `ModelError`: `model.not-configured` where a key or
 * an address is missing, `model.script` where a script or a recording cannot be read.
 */
export async function createModel(ref: ModelRef, resources: ModelResources): Promise<Model> {
  const limits = limitsOf(ref, resources.limits);
  if (ref.kind === 'provider') {
    return {
      id: ref.id,
      language: createProviderModel(ref, resources),
      price: priceOf(ref, resources.prices),
      ...limits,
      isScripted: false,
      limiterKey: limiterKeyOf(ref.provider, resources.providers[ref.provider] ?? {}),
    };
  }
  const text = await readText(ref, resources);
  const base = { id: ref.id, isScripted: true, limiterKey: ref.id };
  if (ref.kind === 'replay') {
    const cassette = openCassette(text, ref.file, resources.maskSecrets);
    return { ...base, ...limits, ...cassette.limits, language: cassette.language, price: FREE };
  }
  const script = readScript(text, ref.file);
  return {
    ...base,
    language: new ScriptedModel(script, ref.file, resources.clock),
    price: script.prices ?? FREE,
    contextWindow: script.contextWindow ?? limits.contextWindow,
    maxOutputTokens: script.maxOutputTokens ?? limits.maxOutputTokens,
  };
}

async function readText(
  ref: Extract<ModelRef, { file: string }>,
  resources: ModelResources,
): Promise<string> {
  try {
    return await resources.readFile(ref.file);
  } catch (error) {
    throw new ModelError('model.script', `${ref.id} cannot be read.`, 'Check the path of the file.', {
      cause: error,
    });
  }
}

function createProviderModel(
  ref: Extract<ModelRef, { kind: 'provider' }>,
  { providers, fetch }: ModelResources,
): LanguageModelV4 {
  const { provider, model } = ref;
  if (!hasAccess(providers, provider)) {
    const variable = PROVIDER_VARIABLES[provider];
    throw new ModelError(
      'model.not-configured',
      `There is no access to ${provider}, which ${ref.id} needs.`,
      `Set ${provider} up in the settings under Models, or set ${variable}.`,
    );
  }
  const access = providers[provider] ?? {};
  return fitRequests(MAKERS[provider](model, access, tapFetch(fetch)), provider, model);
}

type Maker = (model: string, access: ProviderAccess, fetch: typeof globalThis.fetch) => LanguageModelV4;

/** Key and address are always given, since the packages would else read the environment. */
const MAKERS: Record<ProviderName, Maker> = {
  anthropic: (model, access, fetch) =>
    createAnthropic({ ...keyAndUrl(access, 'https://api.anthropic.com/v1'), fetch }).languageModel(model),
  openai: (model, access, fetch) =>
    createOpenAI({ ...keyAndUrl(access, 'https://api.openai.com/v1'), fetch }).languageModel(model),
  google: (model, access, fetch) =>
    createGoogle({
      ...keyAndUrl(access, 'https://generativelanguage.googleapis.com/v1beta'),
      fetch,
    }).languageModel(model),
  openrouter: (model, access, fetch) =>
    createOpenRouter({
      ...keyAndUrl(access, 'https://openrouter.ai/api/v1'),
      fetch,
      compatibility: 'strict',
    }).chat(model, { usage: { include: true } }),
  ollama: (model, access, fetch) =>
    createOpenAICompatible({
      name: 'ollama',
      baseURL: `${withoutSlash(access.baseUrl ?? OLLAMA_URL)}/v1`,
      fetch,
      includeUsage: true,
    }).languageModel(model),
  compatible: (model, access, fetch) =>
    createOpenAICompatible({
      name: 'compatible',
      baseURL: withoutSlash(access.baseUrl ?? ''),
      ...(access.apiKey === undefined ? {} : { apiKey: access.apiKey }),
      fetch,
      includeUsage: true,
    }).languageModel(model),
};

function keyAndUrl(access: ProviderAccess, url: string): { apiKey: string; baseURL: string } {
  return { apiKey: access.apiKey ?? '', baseURL: withoutSlash(access.baseUrl ?? url) };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/u, '');
}

/** The key itself must not be readable from it: limiter keys turn up in logs. */
function limiterKeyOf(provider: ProviderName, access: ProviderAccess): string {
  const identity = `${access.baseUrl ?? ''}\n${access.apiKey ?? ''}`;
  return `${provider}:${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`;
}
