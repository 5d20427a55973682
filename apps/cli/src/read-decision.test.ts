import { expect, test } from 'vitest';
import { readDecision } from './read-decision.ts';

test.each(['y', 'Y', ' yes '])('"%s" approves', (line) => {
  expect(readDecision(line)).toEqual({ decision: 'approved' });
});

test.each(['n', 'No', 'no '])('"%s" refuses', (line) => {
  expect(readDecision(line)).toEqual({ decision: 'refused' });
});

test('a sentence refuses, and is the note', () => {
  expect(readDecision('use the staging server')).toEqual({
    decision: 'refused',
    note: 'use the staging server',
  });
  expect(readDecision('no, ask me tomorrow')).toEqual({ decision: 'refused', note: 'ask me tomorrow' });
});

test.each(['', 'ok', 'yep', 'x', 'yes but only the first', 'y n'])('"%s" decides nothing', (line) => {
  expect(readDecision(line)).toBeNull();
});
