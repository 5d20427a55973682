import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, fstatSync } from 'node:fs';
import { Failure } from './failure.ts';
import { locate, openChecked, type Roots } from './locate.ts';
import { toText } from './odd-names.ts';
import { MatchReader, type Match } from './match-reader.ts';

export interface SearchCall {
  call: 'search';
  pattern: string;
  path: string;
  fixed: boolean;
  ignoreCase: boolean;
  include: string | null;
  maxMatches: number;
  timeoutMs: number;
}

const GREP = '/usr/bin/grep';
const SKIPPED = ['.git', 'node_modules'];
/** Where grep finds what it searches: opened and checked here, so no path can be swapped under it. */
const SEARCH_FD = 3;

/** Searches with GNU grep; the pattern is always the value of `-e`, whatever it begins with. */
export async function searchFiles(request: SearchCall, roots: Roots): Promise<object> {
  const { path, asked } = locate(request.path, roots);
  assertPattern(request);
  const fd = openChecked(path, constants.O_RDONLY, roots.readable);
  try {
    const stats = fstatSync(fd);
    if (!stats.isDirectory() && !stats.isFile())
      throw new Failure('not-a-file', 'The path is neither a file nor a folder.');
    const where = `/proc/self/fd/${SEARCH_FD}${stats.isDirectory() ? '/' : ''}`;
    const prefix = stats.isDirectory() ? (asked === '.' ? '' : `${asked}/`) : asked;
    const found = await runGrep(grepArguments(request, asked, where), fd, request);
    return {
      ...found,
      matches: found.matches.map((match) => ({
        ...match,
        path: toText(prefix + match.path.slice(where.length)),
      })),
    };
  } finally {
    closeSync(fd);
  }
}

function assertPattern({ pattern, fixed }: SearchCall): void {
  if (pattern === '') throw new Failure('bad-pattern', 'The pattern is empty.');
  if (/[\0\n]/.test(pattern)) throw new Failure('bad-pattern', 'A pattern is one line without NUL bytes.');
  const check = spawnSync(GREP, [fixed ? '-F' : '-E', '-e', pattern, '--', '/dev/null'], {
    env: {},
    timeout: 5000,
  });
  if (check.status === 2 || check.error !== undefined) {
    const reason = check.stderr
      ?.toString('utf8')
      .replace(/^.*?grep: /, '')
      .trim();
    throw new Failure(
      'bad-pattern',
      `The pattern is not valid: ${reason || 'it could not be read'}.`,
      'Use `fixed` to search for plain text.',
    );
  }
}

function grepArguments(request: SearchCall, asked: string, where: string): string[] {
  const parts = asked.split('/');
  return [
    ...['-r', '-n', '-I', '-s', '-H', '--null', '--color=never', request.fixed ? '-F' : '-E'],
    ...(request.ignoreCase ? ['-i'] : []),
    ...(request.include === null ? [] : [`--include=${request.include}`]),
    ...SKIPPED.filter((name) => !parts.includes(name)).map((name) => `--exclude-dir=${name}`),
    ...['-e', request.pattern, '--', where],
  ];
}

async function runGrep(
  args: string[],
  fd: number,
  { maxMatches, timeoutMs }: SearchCall,
): Promise<{ matches: Match[]; truncated: boolean; timedOut: boolean }> {
  const grep = spawn(GREP, args, { stdio: ['ignore', 'pipe', 'pipe', fd], env: { LC_ALL: 'C.UTF-8' } });
  const reader = new MatchReader(maxMatches);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    grep.kill('SIGKILL');
  }, timeoutMs);
  const closed = once(grep, 'close');
  let complaint = '';
  grep.stderr?.on('data', (chunk: Buffer) => {
    if (complaint.length < 1000) complaint += chunk.toString('utf8');
  });
  grep.stdout?.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    if (reader.isFull) grep.kill('SIGKILL');
  });
  const [exitCode] = (await closed) as [number | null];
  clearTimeout(timer);
  // With -s it says nothing of files that it may not read, so what it says is about the search itself.
  if (exitCode === 2 && complaint !== '') {
    const reason = complaint.replace(/^.*?grep: /, '').split('\n')[0];
    throw new Failure(
      'bad-pattern',
      `The search could not be finished: ${reason}.`,
      'Use a simpler pattern.',
    );
  }
  return { matches: reader.matches.slice(0, maxMatches), truncated: reader.isFull, timedOut };
}
