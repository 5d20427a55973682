import type { ModelSetup } from '@vitto/contracts';

/** A model list is written with commas; so none of its names has one. */
export function parseTyped(text: string): string | null {
  const model = text.trim();
  return /^[a-z]+\/[^,\s][^,]*$/u.test(model) || /^(?:script|replay):[^,]+$/u.test(model) ? model : null;
}

/** The list with the model one place up (-1) or down (1). */
export function moveModel(models: readonly string[], model: string, by: -1 | 1): string[] {
  const from = models.indexOf(model);
  const to = from + by;
  if (from < 0 || to < 0 || to >= models.length) return [...models];
  const moved = models.filter((one) => one !== model);
  moved.splice(to, 0, model);
  return moved;
}

/** What is set up and could be added: what providers suggest, and what a local Ollama has. */
export function findSuggestions(setup: ModelSetup, chosen: readonly string[]): string[] {
  const suggested = setup.providers
    .filter((provider) => provider.isConfigured && provider.suggestedModel !== null)
    .map((provider) => provider.suggestedModel ?? '');
  const local = (setup.ollama?.models ?? []).map((model) => `ollama/${model}`);
  return [...new Set([...suggested, ...local])].filter((model) => !chosen.includes(model));
}
