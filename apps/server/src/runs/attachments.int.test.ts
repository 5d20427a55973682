import { APICallError, type LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openArtifacts } from '../engine/index.ts';
import { sendMessage } from './start-run.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from './testing/run-harness.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
let h: RunHarness;
beforeAll(async () => {
  h = await createRunHarness({});
});
afterAll(() => h.drop());
let png: string;
let notes: string;
beforeEach(async () => {
  png = await upload('a.png', 'image/png', PNG);
  notes = await upload('notes.txt', 'text/plain', 'the code word is kumquat');
});

async function upload(name: string, mediaType: string, content: string | Uint8Array): Promise<string> {
  const artifacts = openArtifacts(h.database.pool, { userId: h.userId, taskId: null });
  return (await artifacts.save(name, mediaType, content)).id;
}
const say = (conversationId: string, text: string, attachments: string[]) =>
  sendMessage(h.runs, { userId: h.userId, conversationId, text, source: 'test', attachments });

/** The parts of the newest user message that the model was given. */
function lastParts(calls: LanguageModelV4CallOptions[]) {
  const message = calls.at(-1)?.prompt.findLast(({ role }) => role === 'user');
  return message?.role === 'user' ? message.content : [];
}

it('gives pictures and texts to the model, and keeps neither in the journal', async () => {
  const model = functionModel(() => turn({ text: 'seen' }));
  h.setModels([model]);
  const sent = await say(await h.conversation(), 'look', [png, notes]);
  await h.run(sent.taskId);
  const parts = lastParts(model.calls);
  expect(parts).toContainEqual({
    type: 'file',
    mediaType: 'image/png',
    data: { type: 'data', data: PNG.toString('base64') },
  });
  expect(JSON.stringify(parts)).toContain('kumquat');
  const journal = JSON.stringify(await h.events(sent.taskId));
  expect(journal).not.toContain('kumquat');
  expect(journal).not.toContain(PNG.toString('base64').slice(0, 40));
  expect(await h.task(sent.taskId)).toMatchObject({ state: 'completed', tainted: true });
});

it('shows the same after a restart, and to the next task of the conversation', async () => {
  const stops = new AbortController();
  const dying = functionModel(() => {
    stops.abort(new Error('the worker died'));
    return turn({ text: 'never' });
  });
  h.setModels([dying]);
  const conversationId = await h.conversation();
  const sent = await say(conversationId, 'look', [png, notes]);
  await h.run(sent.taskId, { signal: stops.signal, isDraining: () => false }).catch(() => undefined);
  await h.database.pool.query(
    "update vitto_tasks set lease_until = now() - interval '1 minute' where id = $1",
    [sent.taskId],
  );
  const living = functionModel(() => turn({ text: 'seen' }));
  h.setModels([living]);
  await h.run(sent.taskId, undefined, 'worker-2');
  expect(lastParts(living.calls)).toEqual(lastParts(dying.calls));
  expect(await h.task(sent.taskId)).toMatchObject({ state: 'completed', tainted: true });

  const next = await say(conversationId, 'and?', []);
  await h.run(next.taskId);
  expect(JSON.stringify(living.calls.at(-1)?.prompt)).toContain('kumquat');
  expect(await h.task(next.taskId)).toMatchObject({ tainted: true });
});

it('goes on by name where a model takes no pictures, and says so', async () => {
  const blind = functionModel((options) => {
    if (JSON.stringify(options.prompt).includes('"type":"file"')) throw refusal();
    return turn({ text: 'I cannot see it' });
  });
  h.setModels([blind]);
  const conversationId = await h.conversation();
  const sent = await say(conversationId, 'look', [png, notes]);
  await h.run(sent.taskId);
  expect(await h.task(sent.taskId)).toMatchObject({ state: 'completed', result: 'I cannot see it' });
  expect(JSON.stringify(lastParts(blind.calls))).toContain('takes no pictures');
  const told = (await h.events(sent.taskId)).find((event) => event.type === 'model.fallback');
  expect(told?.payload).toMatchObject({ from: 'test/model', to: 'test/model without pictures' });
});

it('still fails where no picture was the reason', async () => {
  const broken = functionModel(() => {
    throw refusal();
  });
  h.setModels([broken]);
  const sent = await say(await h.conversation(), 'look', [notes]);
  await h.run(sent.taskId);
  expect(await h.task(sent.taskId)).toMatchObject({
    state: 'failed',
    error: { code: 'model.images-refused' },
  });
  expect(broken.calls).toHaveLength(1);
});

it('taints a task that is running when a file arrives, and frames what is read of it', async () => {
  const conversationId = await h.conversation();
  const sent = await say(conversationId, 'begin', []);
  const model = functionModel(async (_, call) => {
    if (call === 1) {
      await say(conversationId, 'look at this', [notes]);
      return turn({ text: 'one moment', calls: [] });
    }
    if (call === 2) return turn({ calls: [{ id: 'r', tool: 'read_artifact', args: { artifactId: notes } }] });
    return turn({ text: 'done' });
  });
  h.setModels([model]);
  await h.run(sent.taskId);
  expect(await h.task(sent.taskId)).toMatchObject({ state: 'completed', tainted: true });
  const result = model.calls.at(-1)?.prompt.at(-1);
  expect(JSON.stringify(result)).toMatch(/<untrusted-[0-9a-f]{16} from=\\"artifact_notes\.txt\\">/);
});

it('goes on when a file has been deleted meanwhile', async () => {
  const model = functionModel(() => turn({ text: 'gone?' }));
  h.setModels([model]);
  const sent = await say(await h.conversation(), 'look', [png, notes]);
  await h.database.pool.query('delete from vitto_artifacts where id = any($1)', [[png, notes]]);
  await h.run(sent.taskId);
  expect(await h.task(sent.taskId)).toMatchObject({ state: 'completed' });
  expect(JSON.stringify(lastParts(model.calls)).match(/It has been deleted/g)).toHaveLength(2);
});

function refusal(): APICallError {
  return new APICallError({
    message: 'image input is not supported by this model',
    url: 'http://model.test',
    requestBodyValues: {},
    statusCode: 400,
    responseHeaders: {},
    responseBody: '{"error":{"message":"image input is not supported by this model"}}',
    isRetryable: false,
  });
}
