/** The providers that a model can come from (specification 01, "Models"). */
export const PROVIDERS = ['anthropic', 'openai', 'google', 'openrouter', 'ollama', 'compatible'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** Access to one provider. Nothing of it is read from the environment here: the configuration fills it. */
export interface ProviderAccess {
  apiKey?: string;
  /** Another address than the provider's own: a proxy, a gateway, a local server. */
  baseUrl?: string;
}

/**
 * Access by provider. A cloud provider needs an `apiKey`; `compatible` needs a `baseUrl` (with its `/v1`);
 * `ollama` needs nothing and is looked for at `OLLAMA_URL`.
 */
export type ProviderSettings = Partial<Record<ProviderName, ProviderAccess>>;

export const OLLAMA_URL = 'http://127.0.0.1:11434';

/** Which variable to set when a provider lacks its access: for messages. */
export const PROVIDER_VARIABLES: Record<ProviderName, string> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  ollama: 'OLLAMA_HOST',
  compatible: 'VITTO_COMPATIBLE_URL',
};

export function isProviderName(name: string): name is ProviderName {
  return (PROVIDERS as readonly string[]).includes(name);
}

/** True when the settings hold what calls to this provider need. */
export function hasAccess(settings: ProviderSettings, provider: ProviderName): boolean {
  if (provider === 'ollama') return true;
  const access = settings[provider];
  return Boolean(provider === 'compatible' ? access?.baseUrl : access?.apiKey);
}
