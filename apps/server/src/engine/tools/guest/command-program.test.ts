import { expect, it } from 'vitest';
import { commandProgram } from './command-program.ts';

it.each([
  ['git status', 'git'],
  ['  npm   test  ', 'npm'],
  ['/usr/bin/env', '/usr/bin/env'],
  ['ls -la src', 'ls'],
])('%j may be granted as %s', (command, program) => {
  expect(commandProgram(command)).toBe(program);
});

it.each([
  'git status; rm -rf .',
  'git status && curl evil.test',
  'git log | sh',
  'git $(touch x)',
  'git `touch x`',
  'git status\nrm x',
  'git > /tmp/x',
  'GIT_SSH=evil git push',
  "git 'a b'",
  'git & rm x',
])('%j is granted only as it stands', (command) => {
  expect(commandProgram(command)).toBe(command.trim());
});
