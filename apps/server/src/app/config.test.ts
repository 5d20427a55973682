import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../kernel/app-error.ts';
import { readConfig } from './config.ts';

describe('the configuration', () => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'vitto-config-'));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));
  const read = (variables: Record<string, string> = {}) => readConfig({ VITTO_HOME: home, ...variables });
  const problems = (variables: Record<string, string>) => {
    try {
      read(variables);
    } catch (error) {
      if (error instanceof AppError)
        return error.errors?.map(({ path, message }) => `${path}: ${message}`) ?? [];
      throw error;
    }
    return [];
  };

  it('has defaults for everything', () => {
    expect(read()).toMatchObject({
      home,
      host: '127.0.0.1',
      port: 4800,
      databaseUrl: null,
      roles: ['server', 'worker', 'sandbox'],
      rootBudget: { maxIterations: 50, maxTokens: 500_000, maxCostUsd: null },
      dailyCostUsd: null,
      trustStartScore: 25,
    });
  });

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:11434'],
    ['gpu.lan:8080', 'http://gpu.lan:8080'],
    ['https://ollama.test', 'https://ollama.test'],
  ])('takes OLLAMA_HOST %s as %s', (given, baseUrl) => {
    expect(read({ OLLAMA_HOST: given }).models.providers.ollama).toEqual({ baseUrl });
  });

  it('hands the master key on as it was given, and takes a path of it for no secret', () => {
    expect(read().masterKey).toBeNull();
    const given = read({ VITTO_MASTER_KEY: '/etc/vitto/master.key' });
    expect(given).toMatchObject({ masterKey: '/etc/vitto/master.key', secrets: [] });
  });

  it('takes an empty variable for an absent one', () => {
    expect(read({ VITTO_PORT: '', DATABASE_URL: ' ' })).toMatchObject({ port: 4800, databaseUrl: null });
  });

  it.each([
    [{ VITTO_PROT: '1' }, /^VITTO_PROT: is not a variable of Vitto/],
    [{ VITTO_PORT: 'many' }, /^VITTO_PORT: .*"many"/],
    [{ VITTO_PORT: '70000' }, /^VITTO_PORT: .*65535.*"70000"/],
    [{ VITTO_ROLES: 'server,cook' }, /^VITTO_ROLES: /],
    [{ VITTO_ROLES: 'sandbox' }, /^VITTO_ROLES: /],
    [{ VITTO_TASK_MAX_TOKENS: '-5' }, /^VITTO_TASK_MAX_TOKENS: .*"-5"/],
    [{ VITTO_DAILY_COST_USD: '0' }, /^VITTO_DAILY_COST_USD: /],
    [{ VITTO_COMPATIBLE_URL: 'ftp://x' }, /^VITTO_COMPATIBLE_URL: /],
  ])('refuses %j and says what it takes', (variables, message) => {
    expect(problems(variables)).toEqual([expect.stringMatching(message)]);
  });

  it('names all that is wrong at once, and shows no secret', () => {
    const found = problems({
      VITTO_PORT: 'x',
      VITTO_NOPE: '1',
      VITTO_COMPATIBLE_API_KEY: '  ',
      VITTO_LOG_LEVEL: 'loud',
    });
    expect(found).toHaveLength(3);
    expect(JSON.stringify(problems({ VITTO_NOPE: 'hunter2hunter2' }))).not.toContain('hunter2');
  });

  it('reads the file in the home for what the environment leaves open', async () => {
    const file = join(home, 'vitto.config.yaml');
    await writeFile(file, 'VITTO_PORT: 4900\nVITTO_LOG_LEVEL: debug\n');
    expect(read({ VITTO_LOG_LEVEL: 'error' })).toMatchObject({ port: 4900, logLevel: 'error' });
    await writeFile(file, 'VITTO_PORT: [1, 2]\n');
    expect(problems({})).toEqual([expect.stringMatching(/vitto\.config\.yaml: must be a list/)]);
    await writeFile(file, 'a: b: c');
    expect(problems({})).toEqual([expect.stringMatching(/vitto\.config\.yaml: is not valid YAML/)]);
    await rm(file);
  });

  it('reads prices, and a bad list is refused with its place', async () => {
    const file = join(home, 'prices.yaml');
    await writeFile(file, 'compatible/mine: { input: 1, output: 2 }\n');
    expect(read({ VITTO_MODEL_PRICES: file }).prices).toEqual({
      'compatible/mine': { input: 1, output: 2, cachedInput: 1, cacheWrite: 1 },
    });
    await writeFile(file, 'compatible/mine: { input: -1, output: 2 }\n');
    expect(problems({ VITTO_MODEL_PRICES: file })).toEqual([expect.stringMatching(/^VITTO_MODEL_PRICES: /)]);
  });

  it('knows the secrets that must never be shown', () => {
    const { secrets } = read({
      ANTHROPIC_API_KEY: 'sk-ant-0123456789',
      DATABASE_URL: 'postgres://vitto:p%40ssw0rd-long@db/vitto',
    });
    expect(secrets).toEqual(expect.arrayContaining(['sk-ant-0123456789', 'p@ssw0rd-long']));
  });
});
