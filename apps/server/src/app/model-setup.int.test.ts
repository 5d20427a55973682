import { createServer } from 'node:http';
import type { ModelProviderName, ModelSetup } from '@vitto/contracts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  startFakeProvider,
  type FakeProvider,
  type FakeReply,
} from '../engine/models/testing/fake-provider.ts';
import type { ModelSettings } from '../engine/index.ts';
import { ensureOwner } from '../identity/index.ts';
import { createTestVault } from '../identity/vault/testing.ts';
import { createTestDatabase } from '../kernel/database/testing.ts';
import { newId } from '../kernel/ids.ts';
import { maskSecrets } from '../kernel/text/mask-secrets.ts';
import { createTestModels } from './testing/model-setup.ts';

const KEY = 'k3y-that-nobody-may-ever-see';
const HELLO: FakeReply = { answer: { text: ['Hel', 'lo.'] } };

let bed: Awaited<ReturnType<typeof createTestDatabase>>;
let owner: { userId: string; role: 'owner' };
const member = { userId: newId(), role: 'member' as const };
const vault = createTestVault();
let provider: FakeProvider | undefined;

beforeAll(async () => {
  bed = await createTestDatabase();
  owner = { userId: (await ensureOwner(bed.database)).id, role: 'owner' };
  await bed.database.pool.query("insert into vitto_users (id, name, role) values ($1, 'M', 'member')", [
    member.userId,
  ]);
});
beforeEach(() => bed.database.pool.query('delete from vitto_model_providers'));
afterEach(() => provider?.close());
afterAll(() => bed.drop());

const make = (environment: ModelSettings = { models: {}, providers: {} }) =>
  createTestModels(bed.database, { vault, environment });
const one = (setup: ModelSetup, name: ModelProviderName) =>
  setup.providers.find((candidate) => candidate.name === name);

describe('a provider that is set up in the app', () => {
  it('works for the next task in every process, and its models become the default', async () => {
    const [here, there] = [make(), make()];
    expect(await there.models.listMain({ models: {} })).toEqual([]);
    expect((await there.models.status())[0]).toMatchObject({ role: 'main', models: [] });

    await here.setup.set(owner, 'openai', { apiKey: KEY });
    const main = await there.models.listMain({ models: {} });
    expect(main).toEqual([expect.stringMatching(/^openai\//)]);
    expect((await there.models.status())[0]).toMatchObject({ role: 'main', models: main });
    const setup = await there.setup.read(owner);
    expect(setup).toMatchObject({ mainModels: main, mayChange: true });
    expect(one(setup, 'openai')).toMatchObject({
      isConfigured: true,
      source: 'app',
      hasKey: true,
      needsKey: true,
      suggestedModel: main[0],
      updatedAt: expect.any(String),
    });
    expect(JSON.stringify(setup)).not.toContain(KEY);

    await there.setup.remove(owner, 'openai');
    expect(await here.models.listMain({ models: {} })).toEqual([]);
  });

  it('calls with the key of now, also where a model was made with the one before', async () => {
    provider = await startFakeProvider('compatible', [HELLO]);
    const { url } = provider;
    const [here, there] = [make(), make()];
    for (const apiKey of ['first-key-of-this-test', 'second-key-of-this-test']) {
      await here.setup.set(owner, 'compatible', { apiKey, baseUrl: url });
      for (const { setup } of [here, there]) {
        expect(await setup.test(owner, 'compatible/m')).toMatchObject({ isOk: true, text: 'Hello.' });
        expect(provider.requests.at(-1)?.headers.authorization).toBe(`Bearer ${apiKey}`);
      }
    }
  });

  it('is tried with a new key before that is stored, so that one that does not work replaces none', async () => {
    provider = await startFakeProvider('compatible', [HELLO]);
    const { setup, access } = make();
    const stored = { apiKey: KEY, baseUrl: provider.url };
    await setup.set(owner, 'compatible', stored);
    const tried = { apiKey: 'a-key-that-is-only-tried' };
    expect(await setup.test(owner, 'compatible/m', tried)).toMatchObject({ isOk: true });
    expect(provider.requests.at(-1)?.headers.authorization).toBe(`Bearer ${tried.apiKey}`);
    expect(maskSecrets(tried.apiKey)).not.toContain(tried.apiKey);
    expect((await access.settings()).providers.compatible).toEqual(stored);
    expect(await setup.test(owner, 'compatible/m')).toMatchObject({ isOk: true });
    expect(provider.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);

    const elsewhere = { baseUrl: 'http://127.0.0.1:2/v1' };
    await expect(setup.test(owner, 'compatible/m', elsewhere)).rejects.toMatchObject({
      code: 'model-provider.key-needed',
    });
    await expect(setup.test(member, 'compatible/m', tried)).rejects.toMatchObject({
      code: 'model-provider.not-allowed',
    });
    expect((await access.settings()).providers.compatible).toEqual(stored);
  });

  it('is for owners and admins to change; others may look', async () => {
    const { setup } = make();
    for (const role of ['member', 'viewer'] as const) {
      const person = { ...member, role };
      const refusal = { code: 'model-provider.not-allowed', status: 403 };
      await expect(setup.set(person, 'openai', { apiKey: KEY })).rejects.toMatchObject(refusal);
      await expect(setup.remove(person, 'openai')).rejects.toMatchObject(refusal);
    }
    await setup.set({ ...member, role: 'admin' }, 'openai', { apiKey: KEY });
    expect(await setup.read(member)).toMatchObject({ mayChange: false });
  });

  it('keeps its key where none is given, but never for another address', async () => {
    const { setup, access } = make();
    await setup.set(owner, 'compatible', { apiKey: KEY, baseUrl: 'http://127.0.0.1:1/v1' });
    await expect(setup.set(owner, 'compatible', { baseUrl: 'http://127.0.0.1:2/v1' })).rejects.toMatchObject({
      code: 'model-provider.key-needed',
      status: 422,
    });
    await setup.set(owner, 'compatible', { baseUrl: 'http://127.0.0.1:1/v1' });
    expect((await access.settings()).providers.compatible).toEqual({
      apiKey: KEY,
      baseUrl: 'http://127.0.0.1:1/v1',
    });
  });

  it('is never sent a key that the environment holds without an address', async () => {
    const { setup, access } = make({ models: {}, providers: { compatible: { apiKey: KEY } } });
    await setup.set({ ...member, role: 'admin' }, 'compatible', { baseUrl: 'http://127.0.0.1:1/v1' });
    expect((await access.settings()).providers.compatible).toEqual({ baseUrl: 'http://127.0.0.1:1/v1' });
    expect(one(await setup.read(owner), 'compatible')).toMatchObject({ hasKey: false, source: 'app' });
  });

  it.each([
    ['openai', {}, 'apiKey'],
    ['openai', { baseUrl: 'https://proxy.test/v1' }, 'apiKey'],
    ['compatible', { apiKey: KEY }, 'baseUrl'],
    ['compatible', { baseUrl: 'http://me:pass@127.0.0.1/v1' }, 'baseUrl'],
    ['ollama', { apiKey: KEY }, 'apiKey'],
  ] as const)('is refused as %s with %o', async (name, change, path) => {
    await expect(make().setup.set(owner, name, change)).rejects.toMatchObject({
      code: 'model-provider.incomplete',
      errors: [{ path }],
    });
  });

  it('is not set up when its key was sealed with another master key, and says nothing wrong', async () => {
    await make().setup.set(owner, 'openai', { apiKey: KEY });
    const other = createTestModels(bed.database, { vault: createTestVault() });
    expect(one(await other.setup.read(owner), 'openai')).toMatchObject({
      isConfigured: false,
      hasKey: true,
      source: 'app',
    });
    expect(await other.models.listMain({ models: {} })).toEqual([]);
  });
});

describe('the environment', () => {
  const environment = {
    models: {},
    providers: { openai: { apiKey: 'from-the-environment' }, ollama: { baseUrl: 'http://127.0.0.1:9' } },
  };

  it('wins over what was entered in the app, and cannot be changed there', async () => {
    await make().setup.set(owner, 'openai', { apiKey: KEY, baseUrl: 'https://elsewhere.test' });
    const { setup, access } = make(environment);
    expect((await access.settings()).providers.openai).toEqual({ apiKey: 'from-the-environment' });
    expect(one(await setup.read(owner), 'openai')).toMatchObject({ source: 'environment', baseUrl: null });
    const refusal = { code: 'model-provider.environment', status: 409 };
    await expect(setup.set(owner, 'openai', { apiKey: KEY })).rejects.toMatchObject(refusal);
    await expect(setup.remove(owner, 'openai')).rejects.toMatchObject(refusal);
    await expect(setup.set(owner, 'ollama', { baseUrl: 'http://x.test' })).rejects.toMatchObject(refusal);
  });
});

describe('a local Ollama', () => {
  it('is found with its models, or not', async () => {
    const server = createServer((request, response) => {
      response.end(JSON.stringify(request.url === '/api/tags' ? { models: [{ name: 'qwen3:8b' }] } : {}));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const baseUrl = `http://127.0.0.1:${port}`;
    const { setup } = make();
    try {
      await setup.set(owner, 'ollama', { baseUrl });
      const found = await setup.read(owner);
      expect(found.ollama).toEqual({ baseUrl, models: ['qwen3:8b'] });
      expect(one(found, 'ollama')).toMatchObject({ isConfigured: true, suggestedModel: 'ollama/qwen3:8b' });
    } finally {
      server.close();
    }
    expect((await setup.read(owner)).ollama).toBeNull();
  });
});

describe('the test of a model', () => {
  const testWith = async (reply: FakeReply) => {
    provider = await startFakeProvider('compatible', [reply]);
    const { setup } = make();
    await setup.set(owner, 'compatible', { apiKey: KEY, baseUrl: provider.url });
    return setup.test(owner, 'compatible/m');
  };

  it('tells the answer and what it took', async () => {
    expect(await testWith(HELLO)).toMatchObject({
      model: 'compatible/m',
      isOk: true,
      text: 'Hello.',
      usage: { inputTokens: expect.any(Number) },
      costUsd: null,
      error: null,
    });
    expect(provider?.requests).toHaveLength(1);
  });

  it('tells a refused key in words, without the key that the provider quotes', async () => {
    const told = await testWith({ status: 401, message: `Incorrect API key provided: ${KEY}.` });
    expect(told).toMatchObject({ isOk: false, error: { code: 'model.auth', hint: expect.any(String) } });
    expect(JSON.stringify(told)).not.toContain(KEY);
    expect(JSON.stringify(told)).toContain('masked');
    expect(maskSecrets(`logged: ${KEY}`)).not.toContain(KEY);
  });

  it('asks once where a task would try again', async () => {
    const told = await testWith({ status: 529, message: 'busy' });
    expect(told).toMatchObject({ isOk: false, error: { code: 'model.unavailable' } });
    expect(provider?.requests).toHaveLength(1);
  });

  it('never takes the key along to where the provider redirects', async () => {
    const elsewhere = await startFakeProvider('compatible', [HELLO]);
    const told = await testWith({ status: 302, headers: { location: `${elsewhere.url}/chat/completions` } });
    expect(told).toMatchObject({ isOk: false, error: { code: 'model.redirected' } });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('says that a provider is not set up, and refuses lists and files', async () => {
    const { setup } = make();
    expect(await setup.test(owner, 'anthropic/x')).toMatchObject({
      isOk: false,
      error: { code: 'model.not-configured' },
    });
    for (const list of ['anthropic/x,openai/y', 'nonsense', '']) {
      await expect(setup.test(owner, list), list).rejects.toMatchObject({ code: 'config.model' });
    }
    await expect(setup.test(member, 'script:/etc/x.yaml')).rejects.toMatchObject({
      code: 'model.file-not-allowed',
    });
  });
});
