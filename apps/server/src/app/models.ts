import {
  chooseRoleModels,
  createModel,
  type Model,
  type ModelRef,
  type ModelSettings,
  type ProviderSettings,
  parseModelList,
  priceOf,
  recordModel,
  type TaskRecord,
} from '../engine/index.ts';
import { isAbsolute, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModelStatus, Settings } from '@vitto/contracts';
import { AppError } from '../kernel/app-error.ts';
import { systemClock } from '../kernel/clock.ts';
import { appendToRegularFile, readRegularFile } from '../kernel/read-regular-file.ts';
import { maskSecrets } from '../kernel/text/mask-secrets.ts';
import type { Config } from './config.ts';
import { fetchWithoutRedirects } from './model-fetch.ts';

/** A script or a recording has at most this many bytes. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** The scripts that come with the product: everybody may play them. */
const OWN_SCRIPTS = fileURLToPath(new URL('../demo/', import.meta.url));
const ENDINGS = { script: /\.ya?ml$/i, replay: /\.jsonl$/i };

/** A model list as a task may name it: `record:FILE` before it records its calls to a cassette. */
interface ModelChoice {
  refs: ModelRef[];
  recordTo: string | null;
}

/** A model that was made, and the access that it was made with. */
interface MadeModel {
  access: string;
  model: Promise<Model>;
}

/** The models of this installation: which one a task gets, made once each as long as the access to its provider stays. */
export class Models {
  readonly #readSettings: () => Promise<ModelSettings>;
  readonly #prices: Config['prices'];
  readonly #made = new Map<string, MadeModel>();

  /** `readSettings` is asked for each task: providers may have been set up since, in any process. */
  constructor(options: { readSettings: () => Promise<ModelSettings>; prices: Config['prices'] }) {
    this.#readSettings = options.readSettings;
    this.#prices = options.prices;
  }

  /**
   * Checks a list at intake; `null` is the installation's own.
   * @throws AppError `config.model`; `budget.no-price` when a money cap is wanted and a model has no price.
   */
  async check(list: string | null, needsPrice: boolean): Promise<void> {
    const { refs } = choose(list, await this.#readSettings());
    if (!needsPrice) return;
    const unpriced = refs.find((ref) => priceOf(ref, this.#prices) === null);
    if (unpriced === undefined) return;
    throw new AppError(
      'budget.no-price',
      `There is no price known for ${unpriced.id}, so a money cap cannot be kept.`,
      {
        status: 422,
        hint: 'Give its price in the file that VITTO_MODEL_PRICES names, or leave the money cap out and cap tokens.',
      },
    );
  }

  /**
   * Checks a list that a user names: scripts and recordings are files of the server's machine, so only its owner
   * may name them.
   * @throws AppError `model.file-not-allowed`.
   */
  async checkFiles(list: string, isOwner: boolean): Promise<void> {
    const { refs, recordTo } = choose(list, await this.#readSettings());
    const files = refs
      .filter((ref) => ref.kind !== 'provider')
      .filter((ref) => !resolve(ref.file).startsWith(OWN_SCRIPTS.replace(/\/?$/, sep)));
    for (const ref of files) {
      if (ENDINGS[ref.kind].test(ref.file)) continue;
      throw fileNotAllowed(
        `a ${ref.kind} is a file that ends in ${ref.kind === 'script' ? '.yaml' : '.jsonl'}`,
      );
    }
    if (!isOwner && (files.length > 0 || recordTo !== null)) {
      throw fileNotAllowed('scripts and recordings are files of the server, which only its owner may name');
    }
  }

  /**
   * The models of a task in the order they are tried. Empty: nothing is configured. `candidate` stands in for the access
   * of this installation, to try it before it is stored.
   */
  async resolve(
    task: Pick<TaskRecord, 'model'> & { kind?: TaskRecord['kind'] },
    settings: Settings,
    candidate?: ModelSettings,
  ): Promise<Model[]> {
    const access = candidate ?? (await this.#readSettings());
    const { refs, recordTo } =
      task.kind === 'subvitto'
        ? chooseForSubVitto(task.model, settings, access)
        : choose(task.model ?? settings.models.main ?? null, access);
    const models = await Promise.all(refs.map((ref) => this.#make(ref, access.providers)));
    if (recordTo === null) return models;
    return models.map((model) =>
      recordModel(model, (line) => appendToRegularFile(recordTo, `${line}\n`), maskSecrets),
    );
  }

  /** The names of the main models of a new task with these settings, in the order they are tried. */
  async listMain(settings: Pick<Settings, 'models'>): Promise<string[]> {
    return choose(settings.models.main ?? null, await this.#readSettings()).refs.map((ref) => ref.id);
  }

  async status(): Promise<ModelStatus[]> {
    const roles = chooseRoleModels(await this.#readSettings());
    return (['main', 'fast', 'subvitto', 'embedding'] as const).map((role) => ({
      role,
      models: roles[role].map((ref) => ref.id),
      scripted: roles[role].some((ref) => ref.kind !== 'provider'),
    }));
  }

  #make(ref: ModelRef, providers: ProviderSettings): Promise<Model> {
    const resources = {
      providers,
      prices: this.#prices,
      fetch: fetchWithoutRedirects,
      clock: systemClock,
      readFile: (file: string) => readRegularFile(file, MAX_FILE_BYTES),
      maskSecrets,
    };
    // A script or a recording may change between tasks; a provider's model does not.
    if (ref.kind !== 'provider') return createModel(ref, resources);
    const access = JSON.stringify(providers[ref.provider] ?? {});
    const made = this.#made.get(ref.id);
    if (made?.access === access) return made.model;
    const model = createModel(ref, resources);
    this.#made.set(ref.id, { access, model });
    model.catch(() => this.#made.delete(ref.id));
    return model;
  }
}

function choose(list: string | null, settings: ModelSettings): ModelChoice {
  if (list === null) return { refs: chooseRoleModels(settings).main, recordTo: null };
  const record = /^record:([^,]+)(?:,(.*))?$/s.exec(list.trim());
  if (record === null) return { refs: parseModelList(list), recordTo: null };
  const file = (record[1] ?? '').trim();
  if (!isAbsolute(file) || !file.endsWith('.jsonl')) {
    throw new AppError(
      'config.model',
      `A recording needs an absolute path that ends in .jsonl; "${file}" is none.`,
    );
  }
  return { ...choose(record[2]?.trim() || null, settings), recordTo: file };
}

/**
 * A sub-Vitto plays what its root was started with. Else the user's list for sub-Vittos stands over the installation's,
 * and where neither has one of its own, they use what the main role does.
 */
function chooseForSubVitto(model: string | null, settings: Settings, access: ModelSettings): ModelChoice {
  const own = model ?? settings.models.subvitto;
  if (own !== undefined && own !== null) return choose(own, access);
  if (access.models.subvitto?.trim()) return { refs: chooseRoleModels(access).subvitto, recordTo: null };
  return choose(settings.models.main ?? null, access);
}

function fileNotAllowed(why: string): AppError {
  return new AppError('model.file-not-allowed', `This model cannot be used: ${why}.`, {
    status: 422,
    hint: 'Name a model of a provider, as provider/model.',
    errors: [{ path: 'model', message: why }],
  });
}
