/** How GNU grep is asked in every guest, and what its complaints mean. */

export const GREP = '/usr/bin/grep';
const SKIPPED = ['.git', 'node_modules'];

export interface GrepQuestion {
  pattern: string;
  fixed: boolean;
  ignoreCase: boolean;
  include: string | null;
}

/** Why a pattern cannot be given to grep at all; `null` when it can. */
export function patternProblem(pattern: string): string | null {
  if (pattern === '') return 'The pattern is empty.';
  return /[\0\n]/.test(pattern) ? 'A pattern is one line without NUL bytes.' : null;
}

/**
 * Arguments of a search that follows no links. The pattern is always the value of `-e`, whatever it begins with.
 * @param asked as `askedPath` gives it: a skipped folder is searched when the path itself leads into one.
 * @param where what grep is to open.
 */
export function grepArguments(question: GrepQuestion, asked: string, where: string): string[] {
  const parts = asked.split('/');
  return [
    ...['-r', '-n', '-I', '-s', '-H', '--null', '--color=never', question.fixed ? '-F' : '-E'],
    ...(question.ignoreCase ? ['-i'] : []),
    ...(question.include === null ? [] : [`--include=${question.include}`]),
    ...SKIPPED.filter((name) => !parts.includes(name)).map((name) => `--exclude-dir=${name}`),
    ...['-e', question.pattern, '--', where],
  ];
}

/** What grep said of the search itself: with `-s` it says nothing of files that it may not read. */
export function grepReason(complaint: string): string {
  return (complaint.replace(/^.*?grep: /, '').split('\n')[0] ?? '').trim();
}
