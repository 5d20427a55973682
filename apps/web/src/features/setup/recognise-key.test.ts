import { expect, it } from 'vitest';
import { recogniseKey } from './recognise-key.ts';

it('tells whose key it is by how it begins', () => {
  expect(recogniseKey('sk-ant-api03-abc')).toBe('anthropic');
  expect(recogniseKey(' sk-or-v1-abc')).toBe('openrouter');
  expect(recogniseKey('sk-proj-abc')).toBe('openai');
  expect(recogniseKey('sk-abc')).toBe('openai');
  expect(recogniseKey('AIzaSyabc')).toBe('google');
});

it('says nothing of a shape that it does not know', () => {
  for (const text of ['', 'gsk_abc', 'hello', 'ask-abc']) expect(recogniseKey(text), text).toBeNull();
});
