import { expect, it } from 'vitest';
import { findModelTrouble } from './use-model-trouble.ts';

const NONE = { models: [{ role: 'main' as const, models: [], scripted: false }], components: [] };

it('is none where the installation or the person has a model', () => {
  const some = { ...NONE, models: [{ role: 'main' as const, models: ['openai/gpt'], scripted: false }] };
  expect(findModelTrouble(some, { models: {} })).toBeNull();
  expect(findModelTrouble(NONE, { models: { main: 'ollama/qwen3' } })).toBeNull();
});

it('is told with what the server knows of it, unless that is only that none is set up', () => {
  const component = { name: 'models', detail: 'The key is refused.', hint: 'Look at it.' };
  const missing = { ...NONE, components: [{ ...component, state: 'missing' as const }] };
  const down = { ...NONE, components: [{ ...component, state: 'down' as const }] };
  expect(findModelTrouble(missing, { models: {} })).toEqual({ detail: null, hint: null });
  expect(findModelTrouble(down, { models: {} })).toEqual({
    detail: 'The key is refused.',
    hint: 'Look at it.',
  });
});
