import { describe, expect, it } from 'vitest';
import { makeToolCallPart, MAX_TOOL_INPUT, parseToolInput, readToolCalls } from './tool-input.ts';

describe('the argument text of a tool call', () => {
  it.each(['', '  ', '{}', 'null'])('%j counts as no arguments', (raw) => {
    expect(parseToolInput(raw)).toEqual({ input: {} });
  });

  it.each([
    ['{"path":"a.txt"', /not valid JSON/u],
    ['{"a":1}{"a":2}', /not valid JSON/u],
    [JSON.stringify('{"path":"a"}'), /must be a JSON object, but they are a string/u],
    ['[1]', /but they are an array/u],
    ['7', /but they are a number/u],
    ['{"__proto__":{"polluted":1}}', /__proto__/u],
    ['{"deep":[{"__proto__":{"polluted":1}}]}', /__proto__/u],
    [JSON.stringify({ text: 'x'.repeat(3 * MAX_TOOL_INPUT) }), /at most 1048576/u],
  ])('%.40s… is refused with the reason', (raw, reason) => {
    const read = parseToolInput(raw);
    expect('problem' in read ? read.problem : '').toMatch(reason);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('leaves the judgement of types to the schema', () => {
    expect(parseToolInput('{"path":5}')).toEqual({ input: { path: 5 } });
  });

  it('mends half a character, which no later request could carry', () => {
    expect(parseToolInput('{"text":"\\ud83e"}')).toEqual({ input: { text: '\ufffd' } });
  });
});

describe('a call in an assistant message', () => {
  const call = { toolCallId: 'c1', toolName: 'read_file' };

  it('survives the journal with its problem', () => {
    const part = makeToolCallPart({
      ...call,
      input: '{"path":',
      providerMetadata: { google: { sign: 'x' } },
    });
    const stored = JSON.parse(JSON.stringify([part])) as (typeof part)[];
    expect(stored[0]?.input).toEqual({});
    expect(stored[0]?.providerOptions).toMatchObject({
      google: { sign: 'x' },
      vitto: { rawInput: '{"path":' },
    });
    expect(readToolCalls(stored)[0]?.problem).toMatch(/not valid JSON/u);
  });

  it('has no options of ours when it is fine', () => {
    expect(makeToolCallPart({ ...call, input: '{"a":1}' })).toEqual({
      type: 'tool-call',
      ...call,
      input: { a: 1 },
    });
  });
});
