import type { ModelRef } from './parse-model-list.ts';

/**
 * The names under which a model may stand in our tables, most exact first: as written, without a date suffix, and for
 * OpenRouter (`openrouter/VENDOR/MODEL`, list prices passed through) as the vendor's own.
 */
export function plainModelIds(ref: Extract<ModelRef, { kind: 'provider' }>): string[] {
  const ids = [ref.id];
  if (ref.provider === 'openrouter') {
    const own = ref.model.replace(/:.*$/u, '');
    // OpenRouter writes claude-opus-4.5 where Anthropic writes claude-opus-4-5.
    ids.push(own.startsWith('anthropic/') ? own.replaceAll('.', '-') : own);
  }
  return ids.flatMap((id) => [id, id.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/u, '')]);
}
