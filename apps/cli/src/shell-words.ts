import { CliError, EXIT } from './cli-error.ts';

/**
 * The machine before the `--` and the command after it. Commander drops the dashes, so they are looked for in the
 * arguments of the process. @throws CliError when more than one word stands before them.
 */
export function splitAtDashes(
  words: string[],
  argv: string[],
): { id: string | undefined; command: string[] } {
  const at = argv.indexOf('--');
  const command = at < 0 ? [] : argv.slice(at + 1);
  const before = words.slice(0, words.length - command.length);
  if (before.length > 1) {
    throw new CliError(
      EXIT.usage,
      'cli.no-command',
      `"${before.join(' ')}" is no machine.`,
      'Write the command after --, and before it at most the id of a machine.',
    );
  }
  return { id: before[0], command };
}

/** A line for `sh` that means exactly these words; one word alone is a line that was written for the shell. */
export function toShellLine(words: string[]): string {
  const [only, ...others] = words;
  if (only !== undefined && others.length === 0) return only;
  return words.map(quote).join(' ');
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
