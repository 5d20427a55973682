import {
  chooseRoleModels,
  createModel,
  type Model,
  type ModelRef,
  type ModelSettings,
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

/** The models of this installation: which one a task gets, made once each. */
export class Models {
  readonly #settings: ModelSettings;
  readonly #prices: Config['prices'];
  readonly #made = new Map<string, Promise<Model>>();

  constructor(config: Pick<Config, 'models' | 'prices'>) {
    this.#settings = config.models;
    this.#prices = config.prices;
    // A list that is wrong is said at start, not at the first task.
    chooseRoleModels(this.#settings);
  }

  /**
   * Checks a list at intake; `null` is the installation's own.
   * @throws AppError `config.model`; `budget.no-price` when a money cap is wanted and a model has no price.
   */
  check(list: string | null, needsPrice: boolean): void {
    const { refs } = this.#choose(list);
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
  checkFiles(list: string, isOwner: boolean): void {
    const { refs, recordTo } = this.#choose(list);
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

  /** The models of a task in the order they are tried. Empty: nothing is configured. */
  async resolve(task: Pick<TaskRecord, 'model'>, settings: Settings): Promise<Model[]> {
    const { refs, recordTo } = this.#choose(task.model ?? settings.models.main ?? null);
    const models = await Promise.all(refs.map((ref) => this.#make(ref)));
    if (recordTo === null) return models;
    return models.map((model) =>
      recordModel(model, (line) => appendToRegularFile(recordTo, `${line}\n`), maskSecrets),
    );
  }

  status(): ModelStatus[] {
    const roles = chooseRoleModels(this.#settings);
    return (['main', 'fast', 'subvitto', 'embedding'] as const).map((role) => ({
      role,
      models: roles[role].map((ref) => ref.id),
      scripted: roles[role].some((ref) => ref.kind !== 'provider'),
    }));
  }

  #choose(list: string | null): ModelChoice {
    if (list === null) return { refs: chooseRoleModels(this.#settings).main, recordTo: null };
    const record = /^record:([^,]+)(?:,(.*))?$/s.exec(list.trim());
    if (record === null) return { refs: parseModelList(list), recordTo: null };
    const file = (record[1] ?? '').trim();
    if (!isAbsolute(file) || !file.endsWith('.jsonl')) {
      throw new AppError(
        'config.model',
        `A recording needs an absolute path that ends in .jsonl; "${file}" is none.`,
      );
    }
    return { ...this.#choose(record[2]?.trim() || null), recordTo: file };
  }

  #make(ref: ModelRef): Promise<Model> {
    const resources = {
      providers: this.#settings.providers,
      prices: this.#prices,
      fetch: globalThis.fetch,
      clock: systemClock,
      readFile: (file: string) => readRegularFile(file, MAX_FILE_BYTES),
      maskSecrets,
    };
    // A script or a recording may change between tasks; a provider's model does not.
    if (ref.kind !== 'provider') return createModel(ref, resources);
    let made = this.#made.get(ref.id);
    if (made === undefined) {
      made = createModel(ref, resources);
      this.#made.set(ref.id, made);
      made.catch(() => this.#made.delete(ref.id));
    }
    return made;
  }
}

function fileNotAllowed(why: string): AppError {
  return new AppError('model.file-not-allowed', `This model cannot be used: ${why}.`, {
    status: 422,
    hint: 'Name a model of a provider, as provider/model.',
    errors: [{ path: 'model', message: why }],
  });
}
