import type { Me, ModelProviderName, ModelSetup, ModelTest, Settings } from '@vitto/contracts';
import { OLLAMA_URL, parseModelList, type ModelLimiter, type ModelSettings } from '../engine/index.ts';
import type { ProviderChange } from '../identity/index.ts';
import { AppError } from '../kernel/app-error.ts';
import { askModel, toFailure } from './ask-model.ts';
import { findOllama } from './find-ollama.ts';
import type { ModelAccess } from './model-access.ts';
import type { Models } from './models.ts';

interface Person {
  userId: string;
  role: Me['role'];
}

/** What people do with models: see which there are, set providers up, try one. */
export class ModelSetupService {
  readonly #deps: {
    access: ModelAccess;
    models: Models;
    limiter: ModelLimiter;
    readSettings: (userId: string) => Promise<Settings>;
  };

  constructor(deps: {
    access: ModelAccess;
    models: Models;
    limiter: ModelLimiter;
    readSettings: (userId: string) => Promise<Settings>;
  }) {
    this.#deps = deps;
  }

  async read({ userId, role }: Person): Promise<ModelSetup> {
    const { access, models, readSettings } = this.#deps;
    const { providers: addresses } = await access.settings();
    const [providers, ollama, mainModels] = await Promise.all([
      access.list(),
      findOllama(addresses.ollama?.baseUrl ?? OLLAMA_URL),
      readSettings(userId).then((settings) => models.listMain(settings)),
    ]);
    const suggested = ollama?.models[0];
    return {
      // A local server that answers is ready to be used, whoever set it up.
      providers: providers.map((provider) =>
        provider.name !== 'ollama' || ollama === null
          ? provider
          : {
              ...provider,
              isConfigured: true,
              suggestedModel: suggested === undefined ? null : `ollama/${suggested}`,
            },
      ),
      ollama,
      mainModels,
      mayChange: mayChange(role),
    };
  }

  /** @throws AppError `model-provider.not-allowed`, or what `ModelAccess.set` refuses. */
  async set({ role }: Person, name: ModelProviderName, change: ProviderChange): Promise<void> {
    requireChanger(role);
    await this.#deps.access.set(name, change);
  }

  /** @throws AppError `model-provider.not-allowed`, or what `ModelAccess.remove` refuses. */
  async remove({ role }: Person, name: ModelProviderName): Promise<void> {
    requireChanger(role);
    await this.#deps.access.remove(name);
  }

  /**
   * Asks one model a short question; that it is not set up is an answer, too. `access` to its provider is tried without
   * being stored.
   * @throws AppError `config.model` for a list that names none or several, `model.file-not-allowed`; with `access`
   *   also what `set` throws.
   */
  async test({ userId, role }: Person, name: string, access?: ProviderChange): Promise<ModelTest> {
    const { models, limiter, readSettings } = this.#deps;
    if (parseModelList(name).length > 1) throw oneModelOnly();
    await models.checkFiles(name, role === 'owner');
    const candidate = access === undefined ? undefined : await this.#candidate(role, name, access);
    try {
      const [model] = await models.resolve({ model: name }, await readSettings(userId), candidate);
      if (model === undefined) throw oneModelOnly();
      return await askModel(model, limiter);
    } catch (error) {
      if (!(error instanceof AppError) || !error.code.startsWith('model.')) throw error;
      const nothing = { text: '', durationMs: 0, usage: null, costUsd: null };
      return { ...nothing, model: name, isOk: false, error: toFailure(error) };
    }
  }

  /** The access of this installation with what is to be tried in it. */
  async #candidate(role: Me['role'], model: string, access: ProviderChange): Promise<ModelSettings> {
    requireChanger(role);
    const [ref] = parseModelList(model);
    if (ref?.kind !== 'provider') throw oneModelOnly();
    return this.#deps.access.settingsWith(ref.provider, access);
  }
}

function mayChange(role: Me['role']): boolean {
  return role === 'owner' || role === 'admin';
}

function requireChanger(role: Me['role']): void {
  if (mayChange(role)) return;
  throw new AppError(
    'model-provider.not-allowed',
    'Providers of models are set up for the whole installation.',
    { status: 403, hint: 'Ask the owner or an admin of this installation.' },
  );
}

function oneModelOnly(): AppError {
  return new AppError('config.model', 'One model is tested at a time.', {
    status: 422,
    hint: 'Name one, as provider/model.',
    errors: [{ path: 'model', message: 'one model, as provider/model' }],
  });
}
