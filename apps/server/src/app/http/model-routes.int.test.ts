import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed, type TestServer } from './testing/http-testbed.ts';

let bed: HttpTestbed;
let server: TestServer;
beforeAll(async () => {
  bed = await createHttpTestbed();
  server = await bed.startServer();
});
afterAll(() => bed.close());

const KEY = 'a-key-that-is-pasted-in-the-app';
const as = (who: 'owner' | 'stranger') => createClient(server.url, bed[who].token);
const provider = (method: string, json?: object) =>
  ['/api/models/providers/openai', { method, json }] as const;

it('sets a provider up, shows that it has a key, and takes it away', async () => {
  expect((await as('owner')(...provider('PUT', { apiKey: KEY }))).status).toBe(204);
  const shown = await as('stranger')('/api/models');
  expect(shown.text).not.toContain(KEY);
  expect(shown.json).toMatchObject({
    mayChange: false,
    mainModels: [expect.stringMatching(/^openai\//)],
    providers: expect.arrayContaining([
      expect.objectContaining({ name: 'openai', isConfigured: true, source: 'app', hasKey: true }),
    ]),
  });
  expect((await as('owner')('/api/models')).json).toMatchObject({ mayChange: true });
  const stored = await bed.database.pool.query('select sealed from vitto_model_providers');
  expect((stored.rows[0] as { sealed: Buffer }).sealed.includes(KEY)).toBe(false);
  expect((await as('owner')(...provider('DELETE'))).status).toBe(204);
  expect((await as('owner')(...provider('DELETE'))).json['code']).toBe('model-provider.not-found');
});

it('lets nobody else change one', async () => {
  for (const [method, json] of [
    ['PUT', { apiKey: KEY }],
    ['DELETE', undefined],
  ] as const) {
    const answer = await as('stranger')(...provider(method, json));
    expect(answer).toMatchObject({ status: 403, json: { code: 'model-provider.not-allowed' } });
  }
});

it('masks a key that was entered in what anybody writes', async () => {
  await as('owner')(...provider('PUT', { apiKey: KEY }));
  await as('stranger')('/api/tasks', { json: { prompt: `is ${KEY} a key?` } });
  const found = await bed.database.pool.query(
    `select payload->>'text' as text from vitto_task_events where type = 'user.message'`,
  );
  expect(found.rows).toEqual([{ text: 'is [secret masked] a key?' }]);
});

it('knows the providers that there are', async () => {
  const answer = await as('owner')('/api/models/providers/nope', { method: 'PUT', json: { apiKey: KEY } });
  expect(answer.status).toBe(404);
});
