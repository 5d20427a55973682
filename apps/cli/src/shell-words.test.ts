import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { CliError } from './cli-error.ts';
import { splitAtDashes, toShellLine } from './shell-words.ts';

test.each([
  [['ls'], ['node', 'vitto', 'vm', 'exec', '--', 'ls'], undefined],
  [['12ab', 'ls', '-l'], ['node', 'vitto', 'vm', 'exec', '12ab', '--', 'ls', '-l'], '12ab'],
])('%j: what stands before the dashes is the machine', (words, argv, id) => {
  expect(splitAtDashes(words, argv)).toEqual({ id, command: argv.slice(argv.indexOf('--') + 1) });
});

test('a command without dashes is refused, a machine without a command is not', () => {
  expect(() => splitAtDashes(['12ab', 'ls'], ['vitto', '12ab', 'ls'])).toThrow(CliError);
  expect(splitAtDashes(['12ab'], ['vitto', '12ab'])).toEqual({ id: '12ab', command: [] });
});

test('several words reach a shell as exactly these, one word is a line for it', () => {
  const words = ['printf', '[%s]', "it's", '$HOME', '`id`', 'a\nb', '', '*', '; true', '-n', '"'];
  const run = spawnSync('sh', ['-c', toShellLine(words)], { encoding: 'utf8' });
  expect(run.stdout).toBe(
    words
      .slice(2)
      .map((word) => `[${word}]`)
      .join(''),
  );
  expect(toShellLine(['ls | wc -l'])).toBe('ls | wc -l');
});
