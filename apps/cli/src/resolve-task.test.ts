import { expect, test } from 'vitest';
import { CliError, EXIT } from './cli-error.ts';
import { checkPart, fits, pickOne } from './resolve-task.ts';

const one = { id: '01890000-aaaa-7000-8000-00000000beef' };
const two = { id: '01890000-bbbb-7000-8000-11111111beef' };

function failureOf(action: () => unknown): CliError {
  try {
    action();
  } catch (error) {
    if (error instanceof CliError) return error;
  }
  throw new Error('It did not fail as expected.');
}

test('a beginning or an end fits, with or without its dashes, and a middle does not', () => {
  expect(fits(one.id, '0189')).toBe(true);
  expect(fits(one.id, '01890000aaaa')).toBe(true);
  expect(fits(one.id, 'beef')).toBe(true);
  expect(fits(one.id, '0000beef')).toBe(true);
  expect(fits(one.id, '7000')).toBe(false);
});

test('fewer than 4 characters, and what no id has, are refused as bad usage', () => {
  for (const part of ['abc', 'task', '../etc', ''])
    expect(failureOf(() => checkPart(part, 'task')).exitCode).toBe(EXIT.usage);
  checkPart('beef', 'task');
});

test('several that fit are listed, and none says where to look', () => {
  const describe = (task: { id: string }) => task.id;
  expect(pickOne([one], 'beef', 'task', describe)).toBe(one);
  const ambiguous = failureOf(() => pickOne([one, two], 'beef', 'task', describe));
  expect(ambiguous.message).toContain(one.id);
  expect(ambiguous.message).toContain(two.id);
  expect(ambiguous.exitCode).toBe(EXIT.usage);
  expect(failureOf(() => pickOne([], 'beef', 'task', describe)).hint).toContain('vitto tasks');
});
