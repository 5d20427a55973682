import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { Models } from './models.ts';

describe('model lists that users name', () => {
  const readSettings = () => Promise.resolve({ models: {}, providers: {} });
  const models = new Models({ readSettings, prices: {} });
  const check = async (list: string, isOwner: boolean) => {
    try {
      await models.checkFiles(list, isOwner);
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
  ])('take %s as %s from the owner and %s from others', async (list, owner, others) => {
    expect([await check(list, true), await check(list, false)]).toEqual([owner, others]);
  });

  it('are refused where a recording would go to another kind of file', async () => {
    expect(await check('record:/etc/cron.d/x', true)).toBe('config.model');
    expect(await check('record:talk.jsonl', true)).toBe('config.model');
  });
});
