import type { ModelRole } from '@vitto/contracts';
import { parseModelList } from './parse-model-list.ts';
import type { ModelRef } from './parse-model-list.ts';
import { hasAccess } from './providers.ts';
import type { ProviderName, ProviderSettings } from './providers.ts';

/** What the configuration says of models: the settings as written, and the access to providers. */
export interface ModelSettings {
  models: Partial<Record<ModelRole, string>>;
  providers: ProviderSettings;
}

/**
 * The models of each role in the order they are tried. A role without a setting takes the main setting
 * (`embedding` does not: it needs another kind of model); without any setting the first provider whose key is
 * present gives its defaults. Empty lists mean that nothing is configured yet: the set-up page.
 * Throws as `parseModelList` does.
 */
export function chooseRoleModels(settings: ModelSettings): Record<ModelRole, ModelRef[]> {
  const { models } = settings;
  const provider = DEFAULT_ORDER.find((name) => hasAccess(settings.providers, name));
  const found = provider === undefined ? {} : DEFAULTS[provider];
  const resolve = (own: string | undefined, standIn: string | undefined): ModelRef[] => {
    const text = own?.trim() ? own : standIn;
    return text === undefined ? [] : parseModelList(text);
  };
  const main = models.main?.trim() ? models.main : undefined;
  return {
    main: resolve(main, found.main),
    fast: resolve(models.fast, main ?? found.fast),
    subvitto: resolve(models.subvitto, main ?? found.main),
    embedding: resolve(models.embedding, found.embedding),
  };
}

/** The model of a provider that is offered first; `null` where nobody can know which there are. */
export function suggestedModelOf(provider: ProviderName): string | null {
  const name = DEFAULT_ORDER.find((one) => one === provider);
  return name === undefined ? null : (DEFAULTS[name].main ?? null);
}

/** A local Ollama gives no default: which models it has is for the set-up page to ask. */
const DEFAULT_ORDER = ['anthropic', 'openai', 'google', 'openrouter'] as const;
type DefaultProvider = Extract<ProviderName, (typeof DEFAULT_ORDER)[number]>;

const DEFAULTS: Record<DefaultProvider, { main?: string; fast?: string; embedding?: string }> = {
  anthropic: { main: 'anthropic/claude-sonnet-5-5', fast: 'anthropic/claude-haiku-4-5' },
  openai: {
    main: 'openai/gpt-6.1-sol',
    fast: 'openai/gpt-6-luna',
    embedding: 'openai/text-embedding-3-small',
  },
  google: {
    main: 'google/gemini-3.8-flash',
    fast: 'google/gemini-2.5-flash-lite',
    embedding: 'google/gemini-embedding-001',
  },
  openrouter: { main: 'openrouter/anthropic/claude-sonnet-5.5', fast: 'openrouter/openai/gpt-6-luna' },
};
