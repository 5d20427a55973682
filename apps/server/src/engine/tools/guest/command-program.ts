/** Characters by which a command line is more than one program with plain arguments. */
const COMPOUND = /[;&|<>()`$\n\r{}*?[\]~#!\\'"=]/;

/**
 * The part of a command that a grant may generalise over: the program, for a plain `program arg …` line. Anything
 * with shell syntax stands for itself alone, or a grant for `git` would cover `git status; rm -rf .`.
 */
export function commandProgram(command: string): string {
  const line = command.trim();
  if (COMPOUND.test(line)) return line;
  return line.split(/\s+/, 1)[0] ?? line;
}
