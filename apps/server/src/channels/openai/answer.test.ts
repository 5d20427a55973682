import type { EventEnvelope } from '@vitto/contracts';
import { describe, expect, it } from 'vitest';
import { Answer } from './answer.ts';

let position = 0;
function event(type: string, payload: Record<string, unknown>): EventEnvelope {
  position += 1;
  const at = '2026-01-01T00:00:00.000Z';
  return { position, taskId: '01890000-0000-7000-8000-000000000000', seq: position, type, at, payload };
}
const delta = (text: string, attempt = 1, turn = 1) => event('agent.text', { turn, attempt, delta: text });
const turn = (text: string) =>
  event('agent.turn_completed', {
    turn: 1,
    attempt: 1,
    model: 'm',
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text },
      ],
    },
    finishReason: 'stop',
    usage: { inputTokens: 5, cachedInputTokens: 2, cacheWriteTokens: 0, outputTokens: 3, reasoningTokens: 1 },
    costUsd: null,
    durationMs: 1,
  });
const retry = () =>
  event('model.retry', { turn: 1, attempt: 1, model: 'm', reason: 'cut', delayMs: 1, message: 'cut' });
const spending = { iterations: 1, tokens: 1, costUsd: null, durationMs: 1 };
const completed = (result: string) => event('task.completed', { result, success: true, spending });

function fold(events: EventEnvelope[], options: { isLive?: boolean; isJoining?: boolean } = {}) {
  const answer = new Answer({ isLive: true, isJoining: false, ...options });
  return { answer, pieces: events.map((one) => answer.apply(one)).filter((piece) => piece !== '') };
}

describe('an answer', () => {
  it('is what the deltas say, and what the turn says beyond them', () => {
    const { pieces } = fold([delta('Hel'), delta('lo'), turn('Hello.'), completed('Hello.')]);
    expect(pieces).toEqual(['Hel', 'lo', '.']);
  });

  it('is the same whether it is given live or not', () => {
    const events = [delta('A'), turn('A'), turn('\n'), delta('B'), turn('Bc'), completed('Report')];
    const live = fold(events).pieces.join('');
    expect(live).toBe('A\n\nBc\n\nReport');
    expect(fold(events, { isLive: false }).pieces.join('')).toBe(live);
  });

  it('says the report of a task once, whether a turn has said it or not', () => {
    expect(fold([turn('Done. '), completed('Done.')]).pieces).toEqual(['Done. ']);
    expect(fold([completed('Done.')]).pieces).toEqual(['Done.']);
    expect(fold([completed(' ')]).pieces).toEqual([]);
  });

  it('sums the usage of its turns', () => {
    const { answer } = fold([turn('A'), turn('B')]);
    expect(answer.usage).toEqual({ prompt: 10, cached: 4, completion: 6, reasoning: 2 });
  });

  it('begins with the next whole turn when the task was at work before', () => {
    const { pieces } = fold([delta('ond half'), turn('Second half'), delta('Th'), turn('Third')], {
      isJoining: true,
    });
    expect(pieces).toEqual(['Second half', '\n\nTh', 'ird']);
  });
});

describe('an attempt that was given up', () => {
  it('leaves no trace when nothing of it was given out', () => {
    expect(fold([retry(), delta('Yes', 2), turn('Yes'), completed('Yes')]).pieces).toEqual(['Yes']);
    expect(fold([delta('No'), retry(), turn('Yes')], { isLive: false }).pieces).toEqual(['Yes']);
  });

  it('is gone on with when the next one says the same so far', () => {
    const { pieces } = fold([delta('The an'), retry(), delta('The ans', 2), turn('The answer')]);
    expect(pieces).toEqual(['The an', 'swer']);
  });

  it.each([
    ['another turn', () => [turn('Something else')]],
    ['the end of the task', () => [completed('Something else')]],
    ['a turn without text', () => [turn('')]],
  ])('cannot be taken back: %s breaks the answer', (_, next) => {
    for (const broken of [retry(), event('task.resumed', { worker: 'w', fence: 2, reason: 'died' })]) {
      expect(() => fold([delta('What was'), broken, delta('Some', 2), ...next()])).toThrow(/does not count/);
    }
  });
});

describe('the end of an answer', () => {
  it('is a task that waits for a person, not for its own helpers', () => {
    const waitingFor = { kind: 'children', callId: 'c', childIds: [] };
    const helpers = fold([event('task.parked', { state: 'waiting_children', waitingFor })]);
    expect(helpers.answer.end).toBeNull();
    const asked = { kind: 'input', callId: 'c', question: 'Which?' };
    const { answer } = fold([event('task.parked', { state: 'waiting_input', waitingFor: asked })]);
    expect(answer.end).toMatchObject({ kind: 'waiting', state: 'waiting_input', waitingFor: asked });
  });

  it('tells what a task failed of, and what was done until then', () => {
    const error = {
      code: 'budget.tokens-exceeded',
      message: 'Used up.',
      hint: 'Raise it.',
      summary: 'Half is done.',
    };
    const { answer } = fold([event('task.failed', { error })]);
    expect(answer.end).toMatchObject({
      kind: 'failed',
      error: { code: 'budget.tokens-exceeded', status: 422, hint: 'Raise it. Half is done.' },
    });
  });

  it('is the last of it', () => {
    const { pieces, answer } = fold([event('task.cancelled', { by: 'web' }), delta('late')]);
    expect(pieces).toEqual([]);
    expect(answer.end).toMatchObject({ kind: 'failed', error: { code: 'task.cancelled' } });
  });
});
