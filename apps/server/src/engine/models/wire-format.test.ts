import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { createModel } from './create-model.ts';
import type { Model } from './model.ts';
import { parseModelList } from './parse-model-list.ts';
import { PROVIDERS } from './providers.ts';
import type { ProviderName } from './providers.ts';
import type { TurnRequest } from './stream-turn.ts';
import { finishTurn, settle, startTurn, until } from './testing/drive-turn.ts';
import type { DrivenTurn } from './testing/drive-turn.ts';
import { startFakeProvider } from './testing/fake-provider.ts';
import type { FakeAnswer, FakeProvider, FakeReply } from './testing/fake-provider.ts';
import { readToolCalls } from './tool-input.ts';

const opened: FakeProvider[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((provider) => provider.close()));
});

async function open(
  name: ProviderName,
  replies: FakeReply[],
): Promise<{ provider: FakeProvider; model: Model }> {
  const provider = await startFakeProvider(name, replies);
  opened.push(provider);
  const access = { apiKey: 'test-key', baseUrl: provider.url };
  const [ref] = parseModelList(`${name}/${MODEL_NAMES[name]}`);
  const model = await createModel(ref!, {
    providers: { [name]: access },
    fetch: globalThis.fetch,
    clock: systemClock,
    readFile: () => Promise.reject(new Error('no files here')),
    maskSecrets: (text) => text,
  });
  return { provider, model };
}

const MODEL_NAMES: Record<ProviderName, string> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5',
  google: 'gemini-3-pro-preview',
  openrouter: 'openai/gpt-5',
  ollama: 'qwen3:8b',
  compatible: 'local-model',
};

const OPTIONS: TurnRequest['options'] = {
  prompt: [
    { role: 'system', content: 'You are Vitto.' },
    { role: 'user', content: [{ type: 'text', text: 'Look into a.txt' }] },
  ],
  tools: [
    {
      type: 'function',
      name: 'read_file',
      description: 'Reads a file.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    },
  ],
};

const HELLO: FakeAnswer = { text: ['Hel', 'lo'] };
const call = (id: string, ...fragments: string[]) => ({ id, name: 'read_file', fragments });

describe.each(PROVIDERS)('%s over its own wire format', (name) => {
  const run = async (
    replies: FakeReply[],
    options = OPTIONS,
  ): Promise<{ provider: FakeProvider; turn: DrivenTurn; model: Model }> => {
    const { provider, model } = await open(name, replies);
    return { provider, model, turn: startTurn([model], options) };
  };

  it('gives text, reasoning and the provider’s own usage', async () => {
    const { turn } = await run([{ answer: { reasoning: ['Think', 'ing'], text: ['Hel', 'lo'] } }]);
    const result = await finishTurn(turn);
    expect(turn.log.text).toBe('Hello');
    expect(turn.log.reasoning).toBe('Thinking');
    expect(result.content.map((part) => part.type)).toEqual(['reasoning', 'text']);
    expect(result.content[0]).toMatchObject({ text: 'Thinking' });
    expect(result.content[1]).toMatchObject({ text: 'Hello' });
    expect(result.finishReason).toBe('stop');
    expect(result.isUsageEstimated).toBe(false);
    expect(result.usage).toMatchObject({ inputTokens: 100, cachedInputTokens: 40, outputTokens: 20 });
    // Anthropic does not say how much of the output was reasoning.
    if (name !== 'anthropic') expect(result.usage.reasoningTokens).toBe(5);
  });

  it('gives a tool call whose arguments came in fragments', async () => {
    const { turn } = await run([{ answer: { calls: [call('call_1', '{"pa', 'th":"a.txt"}')] } }]);
    const result = await finishTurn(turn);
    const calls = readToolCalls(result.content);
    expect(calls).toMatchObject([{ toolName: 'read_file', input: { path: 'a.txt' }, problem: null }]);
    expect(result.finishReason).toBe('tool-calls');
  });

  it('keeps two parallel calls apart', async () => {
    const { turn } = await run([
      {
        answer: {
          text: ['Both.'],
          calls: [call('call_1', '{"path":', '"a"}'), call('call_2', '{"path":"b"}')],
        },
      },
    ]);
    const calls = readToolCalls((await finishTurn(turn)).content);
    expect(calls.map(({ input }) => input)).toEqual([{ path: 'a' }, { path: 'b' }]);
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(2);
  });

  it('takes a call without arguments that streams as nothing for an empty object', async () => {
    const { turn } = await run([{ answer: { calls: [call('call_1', '')] } }]);
    const calls = readToolCalls((await finishTurn(turn)).content);
    expect(calls).toMatchObject([{ input: {}, problem: null }]);
  });

  it('takes back its own message with the results of its calls', async () => {
    const answer = {
      reasoning: ['Hm.'],
      text: ['Look.'],
      calls: [call('call_1', '{"path":"a"}'), call('call_2', '')],
    };
    const { model, provider, turn } = await run([{ answer }, { answer: HELLO }]);
    const { content } = await finishTurn(turn);
    const results = readToolCalls(content).map(({ callId, toolName }) => ({
      type: 'tool-result' as const,
      toolCallId: callId,
      toolName,
      output: { type: 'text' as const, value: 'contents \ud83e' },
    }));
    const prompt = [
      ...OPTIONS.prompt,
      { role: 'assistant', content },
      { role: 'tool', content: results },
    ] as const;
    const second = startTurn([model], { ...OPTIONS, prompt: [...prompt] });
    expect((await finishTurn(second)).content).toMatchObject([{ type: 'text', text: 'Hello' }]);
    expect(provider.refusals).toEqual([]);
  });

  it('joins an emoji that was split across deltas and across packets', async () => {
    const { turn } = await run([{ answer: { text: ['a \ud83e', '\udd8a b'] }, bytesPerWrite: 7 }]);
    const result = await finishTurn(turn);
    expect(turn.log.text).toBe('a 🦊 b');
    expect(result.content).toMatchObject([{ type: 'text', text: 'a 🦊 b' }]);
  });

  it('waits as long as a 429 asks', async () => {
    const { turn, provider } = await run([
      { status: 429, headers: { 'retry-after': '7' } },
      { answer: HELLO },
    ]);
    await finishTurn(turn);
    expect(turn.log.retries).toMatchObject([{ reason: 'rate-limit', status: 429, attempt: 1 }]);
    expect(turn.log.retries[0]?.delayMs).toBeGreaterThanOrEqual(7_000);
    expect(turn.log.retries[0]?.message).toContain('429');
    expect(provider.requests).toHaveLength(2);
  });

  it.each([529, 503])('tells %i apart from a limit', async (status) => {
    const { turn } = await run([{ status, message: 'Overloaded' }, { answer: HELLO }]);
    await finishTurn(turn);
    expect(turn.log.retries).toMatchObject([{ reason: 'overloaded', status }]);
    expect(turn.log.retries[0]?.message).toContain('not a limit of yours');
  });

  it('gives a 500 three tries and then says what it was', async () => {
    const { turn, provider } = await run([{ status: 500, message: 'broken inside' }]);
    await expect(finishTurn(turn)).rejects.toMatchObject({
      code: 'model.unavailable',
      message: expect.stringContaining('broken inside') as string,
    });
    expect(provider.requests).toHaveLength(3);
  });

  it.each(['cut', 'no-finish'] as const)(
    'never takes a stream with the fault %s for an answer',
    async (fault) => {
      const answer = { text: ['Half an ans'], calls: [call('call_1', '{}')] };
      const { turn } = await run([{ answer, fault }, { answer: HELLO }]);
      const result = await finishTurn(turn);
      expect(turn.log.retries).toMatchObject([{ reason: 'cut', attempt: 1 }]);
      expect(result.attempt).toBe(2);
      expect(result.content).toMatchObject([{ type: 'text', text: 'Hello' }]);
      expect(turn.log.textOf.get(2)).toBe('Hello');
    },
  );

  it('retries an error that comes in the middle of a stream', async () => {
    const { turn } = await run([{ answer: { text: ['Half'] }, fault: 'error' }, { answer: HELLO }]);
    await finishTurn(turn);
    expect(turn.log.retries[0]?.reason).toMatch(/^(?:overloaded|server)$/u);
    expect(turn.log.textOf.get(2)).toBe('Hello');
  });

  it('aborts a stream after 60 s of silence and tries again', async () => {
    const { turn, provider } = await run([{ answer: { text: ['Wait'] }, fault: 'stall' }, { answer: HELLO }]);
    await until(() => turn.log.text === 'Wait', 'the first text');
    turn.clock.advance(59_000);
    await settle();
    expect(turn.log.retries).toEqual([]);
    // Where the last bytes came late the 60 s began late too.
    for (let round = 0; round < 13 && turn.log.retries.length === 0; round += 1) {
      turn.clock.advance(5_000);
      await settle();
    }
    await finishTurn(turn);
    expect(turn.log.retries).toMatchObject([{ reason: 'stalled' }]);
    expect(provider.requests).toHaveLength(2);
  });

  it('ends a stream of nothing but pings', async () => {
    const { turn } = await run([{ answer: { text: ['Wait'] }, fault: 'pings' }, { answer: HELLO }]);
    await until(() => turn.log.text === 'Wait', 'the first text');
    const start = turn.clock.now();
    for (let round = 0; round < 20 && turn.log.retries.length === 0; round += 1) {
      await sleep(30);
      turn.clock.advance(31_000);
      await settle();
    }
    const seconds = (turn.clock.now() - start) / 1_000;
    await finishTurn(turn);
    // Pings let a model think for longer than a minute, but not for ever.
    expect(seconds).toBeGreaterThanOrEqual(300);
    expect(turn.log.retries).toMatchObject([{ reason: 'stalled' }]);
  });

  it('does not retry a key that is refused, and names the key’s provider', async () => {
    const { turn, provider } = await run([{ status: 401, message: 'bad key' }]);
    await expect(finishTurn(turn)).rejects.toMatchObject({
      code: 'model.auth',
      hint: expect.stringContaining(name) as string,
    });
    expect(provider.requests).toHaveLength(1);
  });

  it('gives an unreachable provider three tries', async () => {
    const { provider, model } = await open(name, []);
    await provider.close();
    const turn = startTurn([model], OPTIONS);
    await expect(finishTurn(turn)).rejects.toMatchObject({ code: 'model.unavailable' });
    expect(turn.log.retries.map(({ reason }) => reason)).toEqual(['network', 'network']);
  });

  it('closes the connection at once when the turn is cancelled', async () => {
    const { model } = await open(name, [{ answer: { text: ['Wait'] }, fault: 'stall' }]);
    const cancel = new AbortController();
    const turn = startTurn([model], OPTIONS, { signal: cancel.signal });
    await until(() => turn.log.text === 'Wait', 'the first text');
    cancel.abort(new Error('cancelled by the user'));
    await expect(turn.result).rejects.toThrow('cancelled by the user');
    expect(turn.log.retries).toEqual([]);
  });
});

describe('context overflow', () => {
  it.each([
    ['anthropic', 'prompt is too long: 210000 tokens > 200000 maximum'],
    ['openai', "This model's maximum context length is 128000 tokens (context_length_exceeded)"],
    ['google', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'],
    ['openrouter', "This endpoint's maximum context length is 131072 tokens."],
    ['ollama', 'the input length exceeds the context length'],
    ['compatible', 'request (9000 tokens) exceeds the available context size (8192 tokens)'],
  ] as const)('is recognised from %s', async (name, message) => {
    const { model } = await open(name, [{ status: 400, message }]);
    await expect(finishTurn(startTurn([model], OPTIONS))).rejects.toMatchObject({
      code: 'model.context-overflow',
    });
  });
});

describe('what goes out', () => {
  it('marks at most four places for Anthropic’s cache: tools, system, the last two messages of ours', async () => {
    const { provider, model } = await open('anthropic', [{ answer: HELLO }]);
    await finishTurn(startTurn([model], OPTIONS));
    const body = provider.requests[0]?.body as {
      system: { cache_control?: unknown }[];
      tools: { cache_control?: unknown }[];
      messages: { content: { cache_control?: unknown }[] }[];
    };
    expect(body.system.at(-1)?.cache_control).toEqual({ type: 'ephemeral' });
    expect(body.tools.at(-1)?.cache_control).toEqual({ type: 'ephemeral' });
    expect(body.messages.at(-1)?.content.at(-1)?.cache_control).toEqual({ type: 'ephemeral' });
  });

  it('does not hand one provider’s reasoning to another', async () => {
    const anthropic = await open('anthropic', [{ answer: { reasoning: ['secret thought'], text: ['Hi'] } }]);
    const { content } = await finishTurn(startTurn([anthropic.model], OPTIONS));
    expect(content[0]).toMatchObject({
      type: 'reasoning',
      providerOptions: { anthropic: { signature: 'c2lnbmVk' } },
    });
    const more = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Go on' }] };
    const prompt = [...OPTIONS.prompt, { role: 'assistant' as const, content }, more];
    for (const name of ['compatible', 'google', 'openai', 'openrouter'] as const) {
      const other = await open(name, [{ answer: HELLO }]);
      await finishTurn(startTurn([other.model], { ...OPTIONS, prompt }));
      expect(JSON.stringify(other.provider.requests[0]?.body)).not.toContain('secret thought');
    }
  });
});
