import { AppError } from '../../kernel/app-error.ts';
import { isProviderName, PROVIDERS } from './providers.ts';
import type { ProviderName } from './providers.ts';

/** One entry of a model list: a provider's model, a script, or a recording. `id` is the entry as written. */
export type ModelRef =
  | { kind: 'provider'; id: string; provider: ProviderName; model: string }
  | { kind: 'script' | 'replay'; id: string; file: string };

/**
 * Reads a model setting: `provider/model`, with fallbacks after commas in the order they are tried;
 * `script:FILE` and `replay:FILE` stand for the scripted model and a recording.
 * A model's own name may hold slashes and colons (`openrouter/meta/llama`, `ollama/qwen3:8b`).
 * Throws `AppError` `config.model` that names the entry and what is accepted.
 */
export function parseModelList(text: string): ModelRef[] {
  const refs = text.split(',').map((entry) => parseModelRef(entry.trim(), text));
  const seen = new Set<string>();
  for (const { id } of refs) {
    if (seen.has(id)) throw badModel(`"${id}" is named twice in "${text}"`, 'Name every model once.');
    seen.add(id);
  }
  return refs;
}

function parseModelRef(entry: string, whole: string): ModelRef {
  if (entry === '') throw badModel(`there is an empty entry in "${whole}"`, FORMAT);
  const file = /^(script|replay):(.*)$/su.exec(entry);
  if (file) return parseFileRef(entry, file[1] as 'script' | 'replay', (file[2] ?? '').trim());

  const slash = entry.indexOf('/');
  const provider = slash < 0 ? entry : entry.slice(0, slash);
  if (!isProviderName(provider)) {
    throw badModel(
      slash < 0 ? `"${entry}" has no provider` : `"${provider}" in "${entry}" is no known provider`,
      `Known providers: ${PROVIDERS.join(', ')}. ${FORMAT}`,
    );
  }
  const model = slash < 0 ? '' : entry.slice(slash + 1).trim();
  if (model === '') throw badModel(`"${entry}" names no model`, `Write it as ${provider}/MODEL.`);
  return { kind: 'provider', id: `${provider}/${model}`, provider, model };
}

function parseFileRef(entry: string, kind: 'script' | 'replay', file: string): ModelRef {
  if (file === '') throw badModel(`"${entry}" names no file`, `Write it as ${kind}:FILE.`);
  return { kind, id: `${kind}:${file}`, file };
}

const FORMAT = 'Write provider/model, script:FILE or replay:FILE, with fallbacks after commas.';

function badModel(what: string, hint: string): AppError {
  return new AppError('config.model', `The model setting is wrong: ${what}.`, { hint });
}
