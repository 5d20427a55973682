import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, fstatSync } from 'node:fs';
import { folderPrefix } from '../../../guest/asked-path.ts';
import { GREP, grepArguments, grepReason, patternProblem, type GrepQuestion } from '../../../guest/grep.ts';
import { MatchReader, type Match } from '../../../guest/match-reader.ts';
import { toText } from '../../../guest/odd-names.ts';
import { Failure } from './failure.ts';
import { locate, openChecked, type Roots } from './locate.ts';

export interface SearchCall extends GrepQuestion {
  call: 'search';
  path: string;
  maxMatches: number;
  timeoutMs: number;
}

/** Where grep finds what it searches: opened and checked here, so no path can be swapped under it. */
const SEARCH_FD = 3;

/** Searches with GNU grep. */
export async function searchFiles(request: SearchCall, roots: Roots): Promise<object> {
  const { path, asked } = locate(request.path, roots);
  assertPattern(request);
  const fd = openChecked(path, constants.O_RDONLY, roots.readable);
  try {
    const stats = fstatSync(fd);
    if (!stats.isDirectory() && !stats.isFile())
      throw new Failure('not-a-file', 'The path is neither a file nor a folder.');
    const where = `/proc/self/fd/${SEARCH_FD}${stats.isDirectory() ? '/' : ''}`;
    const prefix = stats.isDirectory() ? folderPrefix(asked) : asked;
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
  const problem = patternProblem(pattern);
  if (problem !== null) throw new Failure('bad-pattern', problem);
  const check = spawnSync(GREP, [fixed ? '-F' : '-E', '-e', pattern, '--', '/dev/null'], {
    env: {},
    timeout: 5000,
  });
  if (check.status === 2 || check.error !== undefined) {
    const reason = grepReason(check.stderr?.toString('utf8') ?? '');
    throw new Failure(
      'bad-pattern',
      `The pattern is not valid: ${reason || 'it could not be read'}.`,
      'Use `fixed` to search for plain text.',
    );
  }
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
  if (exitCode === 2 && complaint !== '') {
    throw new Failure(
      'bad-pattern',
      `The search could not be finished: ${grepReason(complaint)}.`,
      'Use a simpler pattern.',
    );
  }
  return { matches: reader.matches.slice(0, maxMatches), truncated: reader.isFull, timedOut };
}
