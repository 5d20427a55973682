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
    [{ VITTO_TASK_MAX_TOKENS: '-5' }, /^VITTO_TASK_MAX_TOKENS: .*"-5"/],
    [{ VITTO_DAILY_COST_USD: '0' }, /^VITTO_DAILY_COST_USD: /],
    [{ VITTO_COMPATIBLE_URL: 'ftp://x' }, /^VITTO_COMPATIBLE_URL: /],
  ])('refuses %j and says what it takes', (variables, message) => {
    expect(problems(variables)).toEqual([expect.stringMatching(message)]);
  });

  const token = 'q9ZrT4vN1xK8sLw2Yb7HdE5u';

  it('has a VM tier of its own machine by default', () => {
    expect(read().sandbox).toMatchObject({
      urls: [],
      token: null,
      provider: 'qemu',
      developerTemplate: 'developer',
      reuseActive: true,
      snapshotOnRelease: true,
      maxLifetimeMs: 900_000,
      hardLifetimeMs: 86_400_000,
      lingerMs: 60_000,
      degrade: 'ask',
      defaultTimeoutMs: 300_000,
      memoryMib: 1024,
      cpus: 2,
      diskGib: 8,
      maxConcurrent: null,
      snapshotMaxAgeDays: 7,
    });
  });

  it('asks other hosts instead of its own once they are named, unless the role is asked for', () => {
    const named = {
      VITTO_SANDBOX_URL: 'https://vm1.lan:4800/, http://10.0.0.2:4800',
      VITTO_SANDBOX_TOKEN: token,
    };
    expect(read(named)).toMatchObject({
      roles: ['server', 'worker'],
      sandbox: { urls: ['https://vm1.lan:4800', 'http://10.0.0.2:4800'], token },
      secrets: [token],
    });
    expect(read({ ...named, VITTO_ROLES: 'worker,sandbox' }).roles).toEqual(['worker', 'sandbox']);
  });

  it('may be a sandbox host and nothing else, with a token', () => {
    expect(
      read({ VITTO_ROLES: 'sandbox', VITTO_SANDBOX_TOKEN: token, VITTO_HOST: '10.0.0.2' }).roles,
    ).toEqual(['sandbox']);
  });

  it.each([
    [
      { VITTO_VM_PROVIDER: 'firecracker' },
      /^VITTO_VM_PROVIDER: this version has no provider firecracker: take qemu/,
    ],
    [{ VITTO_VM_PROVIDER: 'e2b', E2B_API_KEY: 'e2b_0123456789' }, /^VITTO_VM_PROVIDER: .* no provider e2b/],
    [{ VITTO_SANDBOX_URL: 'https://vm.lan' }, /^VITTO_SANDBOX_TOKEN: is missing: the hosts/],
    [{ VITTO_SANDBOX_URL: 'vm.lan', VITTO_SANDBOX_TOKEN: token }, /^VITTO_SANDBOX_URL: takes addresses/],
    [
      { VITTO_SANDBOX_URL: 'https://a:b@vm.lan', VITTO_SANDBOX_TOKEN: token },
      /^VITTO_SANDBOX_URL: .*without a pass/,
    ],
    [{ VITTO_ROLES: 'sandbox' }, /^VITTO_SANDBOX_TOKEN: is missing: a sandbox host of its own/],
    [
      { VITTO_ROLES: 'sandbox', VITTO_SANDBOX_TOKEN: token, VITTO_VM_PROVIDER: 'none' },
      /^VITTO_VM_PROVIDER: none/,
    ],
    [
      { VITTO_ROLES: 'sandbox', VITTO_SANDBOX_TOKEN: token, VITTO_SANDBOX_URL: 'https://vm.lan' },
      /^VITTO_SANDBOX_URL: is for servers and workers/,
    ],
    [{ VITTO_SANDBOX_TOKEN: 'changeme-changeme-changeme' }, /^VITTO_SANDBOX_TOKEN: is a placeholder/],
    [{ VITTO_SANDBOX_TOKEN: 'x'.repeat(32) }, /^VITTO_SANDBOX_TOKEN: is a placeholder/],
    [{ VITTO_SANDBOX_TOKEN: 'short' }, /^VITTO_SANDBOX_TOKEN: takes at least 24/],
    [{ VITTO_VM_HARD_LIFETIME_MS: '60000' }, /^VITTO_VM_HARD_LIFETIME_MS: 60000 is less than the 900000/],
    [{ VITTO_VM_REUSE_ACTIVE: 'perhaps' }, /^VITTO_VM_REUSE_ACTIVE: takes true or false/],
    [{ VITTO_VM_MEMORY_MIB: '64' }, /^VITTO_VM_MEMORY_MIB: .*128/],
    [{ VITTO_VM_DEGRADE: 'maybe' }, /^VITTO_VM_DEGRADE: /],
    [{ VITTO_IMAGES: 'images' }, /^VITTO_IMAGES: takes the absolute path/],
    [{ VITTO_VM_DEFAULT_ITERATIONS: '0' }, /^VITTO_VM_DEFAULT_ITERATIONS: /],
    [{ VITTO_MAX_NESTING_DEPTH: '3' }, /^VITTO_MAX_NESTING_DEPTH: .*2/],
    [{ VITTO_DEPTH2_BUDGET_RATIO: '0' }, /^VITTO_DEPTH2_BUDGET_RATIO: /],
    [{ VITTO_SUBVITTO_MAX_PARALLEL: 'many' }, /^VITTO_SUBVITTO_MAX_PARALLEL: /],
  ])('refuses %j of the VM tier and says what to do', (variables, message) => {
    expect(problems(variables as Record<string, string>)).toEqual([expect.stringMatching(message)]);
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
