import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../kernel/clock.ts';
import { createModel } from '../create-model.ts';
import type { ModelResources } from '../create-model.ts';
import type { Model } from '../model.ts';
import type { TurnRequest } from '../stream-turn.ts';
import { finishTurn, startTurn, until } from '../testing/drive-turn.ts';
import { startFakeProvider } from '../testing/fake-provider.ts';
import type { FakeReply } from '../testing/fake-provider.ts';
import { recordModel } from './record-model.ts';

type Options = TurnRequest['options'];

const mask = (text: string): string => text.replaceAll('s3cr3t', '{{secret:KEY}}');
const resources = (more: Partial<ModelResources>): ModelResources => ({
  providers: {},
  fetch: globalThis.fetch,
  clock: systemClock,
  readFile: () => Promise.reject(new Error('none')),
  maskSecrets: mask,
  ...more,
});

/** Records what a real provider format gives for these requests, one after the other. */
async function record(replies: FakeReply[], requests: Options[]): Promise<string> {
  const provider = await startFakeProvider('anthropic', replies);
  const lines: string[] = [];
  try {
    const model = await createModel(
      { kind: 'provider', id: 'anthropic/claude-x', provider: 'anthropic', model: 'claude-x' },
      resources({ providers: { anthropic: { apiKey: 'sk-very-secret', baseUrl: provider.url } } }),
    );
    const recorded = recordModel(model, async (line) => void lines.push(line), mask);
    for (const options of requests) await finishTurn(startTurn([recorded], options)).catch(() => {});
  } finally {
    await provider.close();
  }
  return lines.map((line) => `${line}\n`).join('');
}

const replay = (text: string): Promise<Model> =>
  createModel(
    { kind: 'replay', id: 'replay:x.jsonl', file: 'x.jsonl' },
    resources({
      readFile: () => Promise.resolve(text),
      fetch: () => Promise.reject(new Error('no network here')),
    }),
  );

const ask = (text: string, system = 'Be Vitto.'): Options => ({
  prompt: [
    { role: 'system', content: system },
    { role: 'user', content: [{ type: 'text', text }] },
  ],
});
const HELLO: FakeReply = { answer: { reasoning: ['Hm'], text: ['Hel', 'lo'] } };

describe('a recording', () => {
  it('is replayed with no network, signatures and usage included', async () => {
    const model = await replay(await record([HELLO], [ask('Hi')]));
    const turn = startTurn([model], ask('Hi'));
    const result = await finishTurn(turn);
    expect(turn.log.text).toBe('Hello');
    expect(result.content[0]).toMatchObject({ providerOptions: { anthropic: { signature: 'c2lnbmVk' } } });
    expect(result.usage).toMatchObject({ inputTokens: 100, cachedInputTokens: 40, outputTokens: 20 });
    expect(model.isScripted).toBe(true);
  });

  it('keeps the digest of a picture, not its bytes, and minds another picture', async () => {
    const look = (data: string): Options => ({
      prompt: [
        { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data } }] },
      ],
    });
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB';
    const text = await record([HELLO], [look(png)]);
    expect(text).not.toContain(png);
    const turn = startTurn([await replay(text)], look(png));
    await finishTurn(turn);
    expect(turn.log.text).toBe('Hello');
    const other = finishTurn(startTurn([await replay(text)], look(png.toLowerCase())));
    await expect(other).rejects.toMatchObject({ code: 'model.divergence' });
  });

  it('may begin with a line about its task, and only begin with it', async () => {
    const about = `${JSON.stringify({ kind: 'about', version: 1, allowedPaths: ['/srv'] })}\n`;
    const calls = await record([HELLO], [ask('Hi')]);
    const model = await replay(about + calls);
    expect((await finishTurn(startTurn([model], ask('Hi')))).content).toMatchObject([{}, { text: 'Hello' }]);
    expect(model.contextWindow).toBe((await replay(calls)).contextWindow);
    await expect(replay(calls + about)).rejects.toMatchObject({ code: 'model.script' });
  });

  it('fails at the first divergence and shows both sides', async () => {
    const model = await replay(await record([HELLO], [ask('Read a.txt')]));
    await expect(finishTurn(startTurn([model], ask('Read b.txt')))).rejects.toMatchObject({
      code: 'model.divergence',
      message: expect.stringMatching(
        /prompt\[1\]\.content\[0\]\.text, character 5\n--- recorded ---\nRead a\.txt\n--- now ---\nRead b\.txt/u,
      ) as string,
    });
  });

  it('fails when the same request is made more often than it was recorded', async () => {
    const model = await replay(await record([HELLO], [ask('Hi')]));
    await finishTurn(startTurn([model], ask('Hi')));
    await expect(finishTurn(startTurn([model], ask('Hi')))).rejects.toThrow(/fewer times/u);
  });

  it('does not mind other ids, times and durations', async () => {
    const text = (id: string, at: string, took: string): string =>
      `task ${id} of ${id} at ${at} took ${took}`;
    const recorded = ask(text('0198f0a0-0000-7000-8000-000000000001', '2026-11-30T10:00:00Z', '12 ms'));
    const now = ask(text('0198f0a0-ffff-7000-8000-00000000000f', '2027-01-02T03:04:05.678Z', '345ms'));
    const model = await replay(await record([HELLO], [recorded]));
    await expect(finishTurn(startTurn([model], now))).resolves.toBeDefined();
  });

  it('lets parallel conversations run in another order', async () => {
    const replies: FakeReply[] = [{ answer: { text: ['one'] } }, { answer: { text: ['two'] } }];
    const model = await replay(await record(replies, [ask('a'), ask('b')]));
    const [second, first] = await Promise.all([
      finishTurn(startTurn([model], ask('b'))),
      finishTurn(startTurn([model], ask('a'))),
    ]);
    expect(first.content).toMatchObject([{ text: 'one' }]);
    expect(second.content).toMatchObject([{ text: 'two' }]);
  });

  it('replays failures, and the retries that mended them', async () => {
    const replies: FakeReply[] = [
      { status: 429, headers: { 'retry-after': '7', 'x-request-id': 'private' } },
      { answer: { text: ['Half'] }, fault: 'cut' },
      HELLO,
    ];
    const text = await record(replies, [ask('Hi')]);
    expect(text).not.toContain('private');
    const turn = startTurn([await replay(text)], ask('Hi'));
    await finishTurn(turn);
    expect(turn.log.retries.map(({ reason }) => reason)).toEqual(['rate-limit', 'cut']);
    expect(turn.log.retries[0]?.delayMs).toBeGreaterThanOrEqual(7_000);
    expect(turn.log.textOf.get(2)).toBe('Half');
  });

  it('replays a conversation of several turns with reasoning in its history', async () => {
    const more: Options['prompt'][number] = { role: 'user', content: [{ type: 'text', text: 'And now?' }] };
    const replies: FakeReply[] = [HELLO, { answer: { text: ['Done.'] } }];
    const history = async (model: Model): Promise<Options> => {
      const { content } = await finishTurn(startTurn([model], ask('Hi')));
      return { prompt: [...ask('Hi').prompt, { role: 'assistant', content }, more] };
    };
    const second = await history(await replay(await record(replies, [ask('Hi')])));
    const asRecorded = structuredClone(second);
    const reasoning = asRecorded.prompt[2]?.content[0] as unknown as {
      providerOptions: { vitto: { from: string } };
    };
    expect(reasoning.providerOptions.vitto.from).toBe('replay');
    reasoning.providerOptions.vitto.from = 'anthropic';
    const model = await replay(await record(replies, [ask('Hi'), asRecorded]));
    const result = await finishTurn(startTurn([model], await history(model)));
    expect(result.content).toMatchObject([{ text: 'Done.' }]);
  });

  it('plays the model that took over, not the one that failed', async () => {
    const failed = await record([{ status: 401 }], [ask('Hi')]);
    const answered = (await record([HELLO], [ask('Hi')])).replaceAll('anthropic/claude-x', 'openai/other');
    const turn = startTurn([await replay(failed + answered)], ask('Hi'));
    await expect(finishTurn(turn)).resolves.toMatchObject({ attempt: 1 });
  });

  it('waits to be given up again where a call was given up', async () => {
    const provider = await startFakeProvider('anthropic', [{ answer: { text: ['Wait'] }, fault: 'stall' }]);
    const lines: string[] = [];
    const model = await createModel(
      { kind: 'provider', id: 'anthropic/claude-x', provider: 'anthropic', model: 'claude-x' },
      resources({ providers: { anthropic: { apiKey: 'k', baseUrl: provider.url } } }),
    );
    const run = async (one: Model): Promise<void> => {
      const cancel = new AbortController();
      const turn = startTurn([one], ask('Hi'), { signal: cancel.signal });
      await until(() => turn.log.text === 'Wait', 'the first text');
      cancel.abort(new Error('given up'));
      await expect(turn.result).rejects.toThrow('given up');
    };
    await run(recordModel(model, async (line) => void lines.push(line), mask));
    await until(() => lines.length === 1, 'the line');
    await provider.close();
    await run(await replay(lines.join('\n')));
  });

  it('keeps the sizes of the recorded model', async () => {
    const model = await replay(await record([HELLO], [ask('Hi')]));
    expect(model).toMatchObject({ contextWindow: 200_000, maxOutputTokens: 32_000, price: { input: 0 } });
  });

  it('holds no secrets, in requests or in answers, and is still found by a request that holds them', async () => {
    const text = await record([{ answer: { text: ['it is s3cr3t'] } }], [ask('the key is s3cr3t')]);
    expect(text).not.toContain('s3cr3t');
    expect(text).not.toContain('sk-very-secret');
    const result = await finishTurn(startTurn([await replay(text)], ask('the key is s3cr3t')));
    expect(result.content).toMatchObject([{ text: 'it is {{secret:KEY}}' }]);
  });

  it('is refused when it is something else', async () => {
    await expect(replay('{"hello":1}')).rejects.toMatchObject({ code: 'model.script' });
    await expect(replay('no json')).rejects.toThrow(/Line 1 of x\.jsonl/u);
  });
});
