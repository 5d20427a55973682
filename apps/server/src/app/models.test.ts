import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { Models } from './models.ts';

describe('model lists that users name', () => {
  const models = new Models({ models: { models: {}, providers: {} }, prices: {} });
  const check = (list: string, isOwner: boolean) => {
    try {
      models.checkFiles(list, isOwner);
      return 'ok';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it.each([
    ['script:/home/ana/turns.yaml', 'ok', 'model.file-not-allowed'],
    ['replay:/home/ana/talk.jsonl', 'ok', 'model.file-not-allowed'],
    ['record:/home/ana/talk.jsonl,ollama/qwen3:8b', 'ok', 'model.file-not-allowed'],
    ['script:/etc/shadow', 'model.file-not-allowed', 'model.file-not-allowed'],
    ['replay:/proc/self/environ', 'model.file-not-allowed', 'model.file-not-allowed'],
    ['ollama/qwen3:8b', 'ok', 'ok'],
    [`script:${fileURLToPath(new URL('../demo/demo.yaml', import.meta.url))}`, 'ok', 'ok'],
    [
      `script:${fileURLToPath(new URL('../demo/', import.meta.url))}../main.yaml`,
      'ok',
      'model.file-not-allowed',
    ],
  ])('take %s as %s from the owner and %s from others', (list, owner, others) => {
    expect([check(list, true), check(list, false)]).toEqual([owner, others]);
  });

  it('are refused where a recording would go to another kind of file', () => {
    expect(check('record:/etc/cron.d/x', true)).toBe('config.model');
    expect(check('record:talk.jsonl', true)).toBe('config.model');
  });
});
