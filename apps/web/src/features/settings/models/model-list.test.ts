import type { ModelProvider, ModelSetup } from '@vitto/contracts';
import { expect, it } from 'vitest';
import { findSuggestions, moveModel, parseTyped } from './model-list.ts';

const provider = (change: Partial<ModelProvider>): ModelProvider => ({
  name: 'openai',
  isConfigured: true,
  source: 'app',
  baseUrl: null,
  hasKey: true,
  needsKey: true,
  updatedAt: null,
  suggestedModel: 'openai/gpt',
  ...change,
});

it('takes provider/model, also with slashes and colons in the name, and scripts', () => {
  for (const good of ['openrouter/meta/llama', ' ollama/qwen3:8b ', 'script:/tmp/a b.yaml'])
    expect(parseTyped(good), good).toBe(good.trim());
  for (const bad of ['', 'gpt', 'openai/', 'openai/a,b', 'openai/ a', 'script:'])
    expect(parseTyped(bad), bad).toBeNull();
});

it('moves a model by one place and stops at the ends', () => {
  expect(moveModel(['a', 'b', 'c'], 'b', -1)).toEqual(['b', 'a', 'c']);
  expect(moveModel(['a', 'b', 'c'], 'b', 1)).toEqual(['a', 'c', 'b']);
  expect(moveModel(['a', 'b'], 'a', -1)).toEqual(['a', 'b']);
  expect(moveModel(['a', 'b'], 'b', 1)).toEqual(['a', 'b']);
});

it('suggests what is set up and not in the list, each once', () => {
  const setup: ModelSetup = {
    providers: [
      provider({}),
      provider({ name: 'anthropic', isConfigured: false, suggestedModel: 'anthropic/claude' }),
      provider({ name: 'ollama', suggestedModel: 'ollama/qwen3:8b' }),
      provider({ name: 'compatible', suggestedModel: null }),
    ],
    ollama: { baseUrl: 'http://127.0.0.1:11434', models: ['qwen3:8b', 'llama3'] },
    mainModels: [],
    mayChange: true,
  };
  expect(findSuggestions(setup, ['openai/gpt'])).toEqual(['ollama/qwen3:8b', 'ollama/llama3']);
});
