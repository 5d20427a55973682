import { describe, expect, it } from 'vitest';
import { chooseRoleModels } from './choose-role-models.ts';
import { parseModelList } from './parse-model-list.ts';

const ids = (refs: { id: string }[]): string[] => refs.map(({ id }) => id);

describe('a model setting', () => {
  it('reads providers, fallbacks, scripts and recordings', () => {
    expect(
      parseModelList('anthropic/claude-sonnet-5-5, openrouter/meta/llama:free,ollama/qwen3:8b'),
    ).toMatchObject([
      { kind: 'provider', provider: 'anthropic', model: 'claude-sonnet-5-5' },
      { provider: 'openrouter', model: 'meta/llama:free' },
      { provider: 'ollama', model: 'qwen3:8b' },
    ]);
    expect(parseModelList('script:/tmp/a b.yaml')).toEqual([
      { kind: 'script', id: 'script:/tmp/a b.yaml', file: '/tmp/a b.yaml' },
    ]);
    expect(parseModelList('replay:x.jsonl')[0]).toMatchObject({ kind: 'replay', file: 'x.jsonl' });
  });

  it.each([
    ['gpt-5', /"gpt-5" has no provider/u, /anthropic, openai, google, openrouter, ollama, compatible/u],
    ['mistral/large', /"mistral".*no known provider/u, /Known providers/u],
    ['anthropic/', /names no model/u, /anthropic\/MODEL/u],
    ['anthropic', /names no model/u, /anthropic\/MODEL/u],
    ['', /empty entry/u, /provider\/model/u],
    ['openai/gpt-5,,openai/gpt-4o', /empty entry/u, /provider\/model/u],
    ['openai/gpt-5,openai/gpt-5', /named twice/u, /once/u],
    ['script:', /names no file/u, /script:FILE/u],
  ])('%j is refused with what is wrong and what to write', (text, message, hint) => {
    const parse = (): unknown => parseModelList(text);
    expect(parse).toThrow(message);
    try {
      parse();
    } catch (error) {
      expect(error).toMatchObject({ code: 'config.model', hint: expect.stringMatching(hint) as string });
    }
  });
});

describe('the models of the roles', () => {
  it('come from the key that is there', () => {
    const roles = chooseRoleModels({ models: {}, providers: { openai: { apiKey: 'k' } } });
    expect(ids(roles.main)[0]).toMatch(/^openai\//u);
    expect(ids(roles.subvitto)).toEqual(ids(roles.main));
    expect(ids(roles.embedding)[0]).toMatch(/^openai\//u);
  });

  it('follow the main setting where they have none of their own', () => {
    const roles = chooseRoleModels({
      models: { main: 'script:a.yaml', subvitto: 'ollama/x' },
      providers: { openai: { apiKey: 'k' } },
    });
    expect(ids(roles.fast)).toEqual(['script:a.yaml']);
    expect(ids(roles.subvitto)).toEqual(['ollama/x']);
  });

  it('are none when nothing is configured', () => {
    const roles = chooseRoleModels({ models: { main: ' ' }, providers: {} });
    expect(roles).toEqual({ main: [], fast: [], subvitto: [], embedding: [] });
  });
});
