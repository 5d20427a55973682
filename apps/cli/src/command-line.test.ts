import { expect, test } from 'vitest';
import { commandLine } from './command-line.ts';

test.each([
  ['chat "…"', 'vitto chat "…"', 'npm run vitto -- chat "…"'],
  ['start', 'vitto start', 'npm start'],
  ['start --port 4951', 'vitto start --port 4951', 'npm start -- --port 4951'],
  ['', 'vitto', 'npm run vitto --'],
])('%s is typed as it was called: as a program, or through npm', (command, asProgram, throughNpm) => {
  expect(commandLine(command, {})).toBe(asProgram);
  expect(commandLine(command, { npm_lifecycle_event: 'test' })).toBe(asProgram);
  expect(commandLine(command, { npm_lifecycle_event: 'vitto' })).toBe(throughNpm);
});
