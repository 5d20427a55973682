import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../kernel/clock.ts';
import { createModel } from '../create-model.ts';
import type { AssistantPart, Model, ModelTurn } from '../model.ts';
import type { TurnRequest } from '../stream-turn.ts';
import { finishTurn, settle, startTurn } from '../testing/drive-turn.ts';
import { readToolCalls } from '../tool-input.ts';
import { readScript } from './read-script.ts';

type Prompt = TurnRequest['options']['prompt'];

const load = (yaml: string, clock = new FakeClock()): Promise<Model> =>
  createModel(
    { kind: 'script', id: 'script:test.yaml', file: 'test.yaml' },
    {
      providers: {},
      fetch: () => Promise.reject(new Error('no network here')),
      clock,
      readFile: () => Promise.resolve(yaml),
      maskSecrets: (text) => text,
    },
  );

const user = (text: string): Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] });

/** The answer as it goes into the history, with a result for each call. */
function after(turn: ModelTurn, ...results: string[]): Prompt {
  const assistant: Prompt[number] = { role: 'assistant', content: turn.content };
  const calls = readToolCalls(turn.content);
  const content = calls.map(({ callId, toolName }, index) => ({
    type: 'tool-result' as const,
    toolCallId: callId,
    toolName,
    output: { type: 'text' as const, value: results[index] ?? '' },
  }));
  return calls.length === 0 ? [assistant] : [assistant, { role: 'tool', content }];
}

const ask = (model: Model, prompt: Prompt, more = {}): Promise<ModelTurn> =>
  finishTurn(startTurn([model], { prompt, ...more }));
const textOf = (content: AssistantPart[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('');

const FIX = `
name: fix a bug
prices: { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 }
conversations:
  - on: /fix the bug/i
    turns:
      - reasoning: I run the tests first.
        text: Running the tests.
        calls: [{ tool: run_command, arguments: { command: npm test } }]
        usage: { input: 1000, output: 100, reasoning: 40 }
      - when:
          - if: { tool: run_command, exitCode: 0 }
            turns: [{ text: Nothing to mend. }]
          - if: { matches: '/FAIL (\\S+)/' }
            turns:
              - capture: { file: '/FAIL (\\S+)/' }
                text: 'It is {{file}}; {{secret:TOKEN}} stays.'
                calls: [{ tool: edit_file, arguments: { path: '{{file}}', tags: ['{{file}}'] } }]
              - expect: { tool: edit_file, contains: saved, lacks: error }
                text: 'Mended {{file}}.'
  - turns: [{ text: hello }]
`;

describe('a script', () => {
  it('plays text, reasoning and calls with the usage and prices that it states', async () => {
    const model = await load(FIX);
    const turn = await ask(model, [user('Please fix the bug')]);
    expect(turn.content.map(({ type }) => type)).toEqual(['reasoning', 'text', 'tool-call']);
    expect(turn.usage).toMatchObject({ inputTokens: 1000, outputTokens: 100, reasoningTokens: 40 });
    expect(turn.costUsd).toBeCloseTo(0.0045, 10);
    expect(model).toMatchObject({ isScripted: true, id: 'script:test.yaml' });
  });

  it('takes the branch that fits what came back, and carries captured values on', async () => {
    const model = await load(FIX);
    const start = [user('Please fix the bug')];
    const first = await ask(model, start);
    const second = await ask(model, [...start, ...after(first, 'FAIL src/add.ts\nexit code: 1')]);
    expect(textOf(second.content)).toBe('It is src/add.ts; {{secret:TOKEN}} stays.');
    expect(readToolCalls(second.content)[0]?.input).toEqual({ path: 'src/add.ts', tags: ['src/add.ts'] });
    const other = await ask(model, [...start, ...after(first, 'all passed, exit code 0')]);
    expect(textOf(other.content)).toBe('Nothing to mend.');
  });

  it('goes on rightly in another process, since the turn comes from the history alone', async () => {
    const start = [user('Please fix the bug')];
    const first = await ask(await load(FIX), start);
    const two = [...start, ...after(first, 'FAIL src/add.ts exit code 1')];
    const second = await ask(await load(FIX), two);
    const third = await ask(await load(FIX), [...two, ...after(second, 'saved')]);
    expect(textOf(third.content)).toBe('Mended src/add.ts.');
  });

  it('serves several conversations, by the last user message that fits', async () => {
    const model = await load(FIX);
    expect(textOf((await ask(model, [user('Good morning')])).content)).toBe('hello');
    const earlier: Prompt = [
      user('Good morning'),
      { role: 'assistant', content: [{ type: 'text', text: 'hello' }] },
    ];
    const turn = await ask(model, [...earlier, user('now FIX THE BUG')]);
    expect(textOf(turn.content)).toBe('Running the tests.');
    expect(readToolCalls(turn.content)[0]?.callId).toBe('call_2_1');
  });

  it('fails loudly with both sides when the outcome fits no branch or no expectation', async () => {
    const model = await load(FIX);
    const start = [user('fix the bug')];
    const first = await ask(model, start);
    await expect(ask(model, [...start, ...after(first, 'command not found')])).rejects.toMatchObject({
      code: 'model.divergence',
      message: expect.stringMatching(/no branch fits[^]*exitCode: 0[^]*command not found/u) as string,
    });
    const two = [...start, ...after(first, 'FAIL a.ts exit code 1')];
    const second = await ask(model, two);
    await expect(ask(model, [...two, ...after(second, 'disk full')])).rejects.toMatchObject({
      code: 'model.divergence',
      message: expect.stringMatching(/does not contain "saved"[^]*disk full/u) as string,
    });
  });

  it('fails loudly when it is asked for more turns than it has', async () => {
    const model = await load('turns: [{ text: one }]');
    const first = await ask(model, [user('hi')]);
    await expect(ask(model, [user('hi'), ...after(first), user('more')])).rejects.toThrow(/no more turns/u);
  });

  it('tells roles apart by the system prompt and checks the tools on offer', async () => {
    const model = await load(`
conversations:
  - system: /researcher/
    turns: [{ expect: { offers: [web_search] }, text: searching }]
  - turns: [{ text: main }]`);
    const system: Prompt[number] = { role: 'system', content: 'You are a researcher.' };
    const tool = { type: 'function', name: 'web_search', inputSchema: { type: 'object' } };
    expect(textOf((await ask(model, [system, user('x')], { tools: [tool] })).content)).toBe('searching');
    expect(textOf((await ask(model, [user('x')])).content)).toBe('main');
    await expect(ask(model, [system, user('x')])).rejects.toThrow(/does not offer web_search/u);
  });

  it('plays malformed arguments as they are', async () => {
    const model = await load(`turns: [{ calls: [{ tool: read_file, rawArguments: '{"path":' }] }]`);
    const calls = readToolCalls((await ask(model, [user('x')])).content);
    expect(calls[0]?.problem).toMatch(/not valid JSON/u);
  });

  it('streams in pieces with pauses', async () => {
    const clock = new FakeClock();
    const model = await load(
      'turns: [{ text: abcdef, delayMs: 1000, stream: { size: 2, everyMs: 100 } }]',
      clock,
    );
    const turn = startTurn([model], { prompt: [user('x')] }, { clock });
    await settle();
    expect(turn.log.text).toBe('');
    clock.advance(1_000);
    await settle();
    expect(turn.log.text).toBe('ab');
    for (let piece = 0; piece < 2; piece += 1) {
      clock.advance(100);
      await settle();
    }
    expect(textOf((await turn.result).content)).toBe('abcdef');
  });

  it('raises its faults like a provider, one a try', async () => {
    const clock = new FakeClock();
    const model = await load(
      `
turns:
  - text: made it at last
    faults:
      - { status: 429, headers: { retry-after: '3' } }
      - { kind: cut, after: 4 }
      - { kind: stall }
      - { kind: network }`,
      clock,
    );
    const cancel = new AbortController();
    const turn = startTurn([model], { prompt: [user('x')] }, { clock, signal: cancel.signal });
    let isOver = false;
    turn.result.catch(() => {}).finally(() => (isOver = true));
    for (let step = 0; step < 200 && !isOver; step += 1) {
      await settle();
      clock.advance(1_000);
    }
    // Three tries, then the model is given up: a fallback would follow.
    await expect(turn.result).rejects.toMatchObject({ code: 'model.unavailable' });
    expect(turn.log.retries.map(({ reason }) => reason)).toEqual(['rate-limit', 'cut']);
    expect(turn.log.textOf.get(2)).toBe('made');
    const again = startTurn([model], { prompt: [user('x')] });
    expect(textOf((await finishTurn(again)).content)).toBe('made it at last');
    expect(again.log.retries).toMatchObject([{ reason: 'network' }]);
  });
});

describe('a wrong script', () => {
  it.each([
    ['turns: [{ texte: hi }]', /turns\.0.*texte/u],
    ['turns: [{ when: [{ turns: [{ text: 5 }] }] }]', /turns\.0\.when\.0\.turns\.0\.text/u],
    ['turns: [{ expect: { matches: "(" } }]', /turns\.0\.expect.*/u],
    ['conversations: []\nturns: []', /turns/u],
    ['name: x', /either turns or conversations/u],
    ['turns: [', /test\.yaml/u],
    [
      'turns: [{ calls: [{ tool: a, arguments: {}, rawArguments: "" }] }]',
      /either arguments or rawArguments/u,
    ],
  ])('%j is refused with the file, the place and what is expected', (yaml, message) => {
    const read = (): unknown => readScript(yaml, 'test.yaml');
    expect(read).toThrow(/test\.yaml/u);
    expect(read).toThrow(message);
    try {
      read();
    } catch (error) {
      expect(error).toMatchObject({ code: 'model.script' });
    }
  });
});
