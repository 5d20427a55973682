import type { ModelProviderName } from '@vitto/contracts';

/** How keys begin; the longer beginnings first. */
const BEGINNINGS: readonly [RegExp, ModelProviderName][] = [
  [/^sk-ant-/, 'anthropic'],
  [/^sk-or-/, 'openrouter'],
  [/^(?:AIza|AQ\.)/, 'google'],
  [/^sk-/, 'openai'],
];

/** Whose key this seems to be; `null` when its shape says nothing. */
export function recogniseKey(key: string): ModelProviderName | null {
  return BEGINNINGS.find(([shape]) => shape.test(key.trim()))?.[1] ?? null;
}
