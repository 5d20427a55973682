import { expect, test } from 'vitest';
import { CliError } from './cli-error.ts';
import { fileModel, resolveModelFiles } from './model-list.ts';

test('files in a model list become absolute, models stay as they are', () => {
  expect(resolveModelFiles('script:a.json,anthropic/claude:x')).toBe(
    `script:${process.cwd()}/a.json,anthropic/claude:x`,
  );
  expect(resolveModelFiles('replay:/tmp/b.jsonl')).toBe('replay:/tmp/b.jsonl');
});

test('a path with a comma is refused, since it would end the entry', () => {
  expect(() => fileModel('record', 'a,b')).toThrow(CliError);
});
