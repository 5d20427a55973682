import { MODEL_PROVIDERS, type ModelProvider, type ModelProviderName } from '@vitto/contracts';
import {
  hasAccess,
  suggestedModelOf,
  type ModelSettings,
  type ProviderAccess,
  type ProviderSettings,
} from '../engine/index.ts';
import {
  applyProviderChange,
  type ModelProviders,
  type ProviderChange,
  type ProviderKey,
} from '../identity/index.ts';
import { AppError } from '../kernel/app-error.ts';

const TAKES_NO_KEY: readonly ModelProviderName[] = ['ollama'];
const NEEDS_NO_KEY: readonly ModelProviderName[] = ['ollama', 'compatible'];

/**
 * Access to the providers of models: what the environment says, and for the providers that it says nothing of, what was
 * entered in the app. Read anew for each task: a key that was just pasted works in every process, without a restart.
 */
export class ModelAccess {
  readonly #environment: ModelSettings;
  readonly #providers: Pick<ModelProviders, 'read' | 'set' | 'remove'>;

  constructor(environment: ModelSettings, providers: Pick<ModelProviders, 'read' | 'set' | 'remove'>) {
    this.#environment = environment;
    this.#providers = providers;
  }

  async settings(): Promise<ModelSettings> {
    const stored = await this.#providers.read();
    return { ...this.#environment, providers: merge(this.#environment.providers, stored) };
  }

  async list(): Promise<ModelProvider[]> {
    const stored = await this.#providers.read();
    const providers = merge(this.#environment.providers, stored);
    return MODEL_PROVIDERS.map((name) => {
      const own = stored.find((one) => one.name === name);
      const source = this.#isInEnvironment(name) ? 'environment' : own === undefined ? null : 'app';
      const access = providers[name] ?? {};
      return {
        name,
        isConfigured: source !== null && hasAccess(providers, name),
        source,
        baseUrl: access.baseUrl === undefined ? null : withoutCredentials(access.baseUrl),
        hasKey: access.apiKey !== undefined || (source === 'app' && own?.hasKey === true),
        needsKey: !NEEDS_NO_KEY.includes(name),
        updatedAt: source === 'app' ? (own?.updatedAt.toISOString() ?? null) : null,
        suggestedModel: suggestedModelOf(name),
      };
    });
  }

  /** @throws AppError `model-provider.environment`, `model-provider.incomplete`, `model-provider.key-needed`. */
  async set(name: ModelProviderName, change: ProviderChange): Promise<void> {
    this.#check(name, change, await this.#providers.read());
    await this.#providers.set(name, change);
  }

  /**
   * The settings as they would be after `set`, of which nothing is stored.
   * @throws AppError as `set`.
   */
  async settingsWith(name: ModelProviderName, change: ProviderChange): Promise<ModelSettings> {
    const stored = await this.#providers.read();
    this.#check(name, change, stored);
    const changed = applyProviderChange(
      stored.find((one) => one.name === name),
      name,
      change,
    );
    const others = stored.filter((one) => one.name !== name);
    return { ...this.#environment, providers: merge(this.#environment.providers, [...others, changed]) };
  }

  #check(name: ModelProviderName, change: ProviderChange, all: ProviderKey[]): void {
    this.#refuseEnvironment(name);
    const stored = all.find((one) => one.name === name);
    const baseUrl = change.baseUrl === undefined ? (stored?.baseUrl ?? null) : change.baseUrl;
    if (change.apiKey !== undefined && TAKES_NO_KEY.includes(name)) {
      throw incomplete('apiKey', `${name} takes no key`);
    }
    if (change.apiKey === undefined && !NEEDS_NO_KEY.includes(name) && stored?.hasKey !== true) {
      throw incomplete('apiKey', `${name} needs a key`);
    }
    if (baseUrl === null && name === 'compatible') {
      throw incomplete('baseUrl', 'a compatible provider needs its address, with its /v1');
    }
    if (baseUrl !== null && withoutCredentials(baseUrl) !== baseUrl) {
      throw incomplete('baseUrl', 'an address holds no user and no password; a key goes into `apiKey`');
    }
  }

  /** @throws AppError `model-provider.environment`, `model-provider.not-found`. */
  async remove(name: ModelProviderName): Promise<void> {
    this.#refuseEnvironment(name);
    await this.#providers.remove(name);
  }

  #isInEnvironment(name: ModelProviderName): boolean {
    return isComplete(this.#environment.providers, name);
  }

  #refuseEnvironment(name: ModelProviderName): void {
    if (!this.#isInEnvironment(name)) return;
    throw new AppError('model-provider.environment', `${name} is set up in the environment, which wins.`, {
      status: 409,
      hint: 'Change it where the server is started, or take its variables away there.',
    });
  }
}

/** A key of the environment never goes to an address from the app: what the environment gives in part gives no key. */
function merge(environment: ProviderSettings, stored: ProviderKey[]): ProviderSettings {
  const merged: ProviderSettings = { ...environment };
  for (const { name, apiKey, baseUrl } of stored) {
    const provider = MODEL_PROVIDERS.find((one) => one === name);
    if (provider === undefined || isComplete(environment, provider)) continue;
    const own: ProviderAccess = {
      ...(apiKey === null ? {} : { apiKey }),
      ...(baseUrl === null ? {} : { baseUrl }),
    };
    const { apiKey: _, ...rest } = environment[provider] ?? {};
    merged[provider] = { ...own, ...rest };
  }
  return merged;
}

/** An Ollama needs nothing, so that only its address says that somebody has set it up. */
function isComplete(providers: ProviderSettings, name: ModelProviderName): boolean {
  if (name === 'ollama') return providers.ollama?.baseUrl !== undefined;
  return hasAccess(providers, name);
}

function withoutCredentials(address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.username === '' && url.password === '')) return address;
  url.username = '';
  url.password = '';
  return url.href;
}

function incomplete(path: string, message: string): AppError {
  return new AppError('model-provider.incomplete', 'The provider cannot be set up like this.', {
    status: 422,
    hint: 'Look at `errors`: each names its field. Nothing was changed.',
    errors: [{ path, message }],
  });
}
