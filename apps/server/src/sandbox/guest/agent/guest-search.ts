import { GuestError, type SearchRequest, type SearchResult } from '@vitto/contracts';
import { folderPrefix } from '../asked-path.ts';
import { clamp } from '../command-checks.ts';
import { GREP, grepArguments, grepReason, patternProblem } from '../grep.ts';
import { MatchReader, type Match } from '../match-reader.ts';
import { toText } from '../odd-names.ts';
import { CommandRun } from './guest-command.ts';
import { readGuestFile } from './guest-files.ts';
import type { GuestPath } from './guest-path.ts';
import type { CallLink } from './with-limit.ts';

interface Found {
  matches: Match[];
  truncated: boolean;
  timedOut: boolean;
}

/** Searches with the guest's grep, by argv: nothing of a pattern or a path is read by a shell. */
export async function searchGuest(
  link: CallLink,
  path: GuestPath,
  request: SearchRequest,
  home: Buffer,
): Promise<SearchResult> {
  const problem = patternProblem(request.pattern);
  if (problem !== null) throw new GuestError('bad-pattern', problem);
  if (request.include?.includes('\0') === true)
    throw new GuestError('bad-pattern', 'The name pattern holds a NUL byte.');
  // Begun in the folder, so that the guest itself says whether it is one, and no path can be swapped meanwhile.
  const inFolder = await runGrep(link, request, path, { cwd: path.absolute, where: '.' }).catch(
    (error: unknown) => {
      if (error instanceof GuestError && error.code === 'not-a-directory') return null;
      throw error;
    },
  );
  if (inFolder !== null) return named(inFolder, folderPrefix(path.asked), 2);
  // Refuses what is no regular file: grep would wait for a pipe to be written.
  await readGuestFile(link, path.absolute, { offset: 0, length: 0, signal: request.signal });
  const inFile = await runGrep(link, request, path, { cwd: home, where: path.absolute });
  return named(inFile, path.asked, path.absolute.length);
}

/** @param cut how much of grep's paths is its own way of putting them. */
function named(found: Found, prefix: string, cut: number): SearchResult {
  const matches = found.matches.map((match) => ({ ...match, path: toText(prefix + match.path.slice(cut)) }));
  return { ...found, matches };
}

async function runGrep(
  link: CallLink,
  request: SearchRequest,
  { asked }: GuestPath,
  { cwd, where }: { cwd: Buffer; where: string | Buffer },
): Promise<Found> {
  const { pattern, fixed = false, ignoreCase = false, include = null, timeoutMs, signal } = request;
  const maxMatches = clamp(request.maxMatches ?? 200, 1, 5000);
  const reader = new MatchReader(maxMatches);
  let complaint = '';
  const args = grepArguments({ pattern, fixed, ignoreCase, include }, asked, '').slice(0, -1);
  const command = { flags: 0, record: '', cwd, argv: [GREP, ...args, where], env: [], timeoutMs, signal };
  const run = new CommandRun(link, command, async (stream, bytes) => {
    if (stream === 'stderr') {
      if (complaint.length < 1000) complaint += bytes.toString('utf8');
    } else if (!reader.isFull) {
      reader.push(bytes);
      if (reader.isFull) run.kill();
    }
  });
  const { exitCode, timedOut } = await run.wait();
  if (exitCode === 2 && complaint !== '') {
    throw new GuestError(
      'bad-pattern',
      `The pattern is not valid or cannot be searched for: ${grepReason(complaint)}.`,
      'Use a simpler pattern, or `fixed` to search for plain text.',
    );
  }
  return { matches: reader.matches.slice(0, maxMatches), truncated: reader.isFull, timedOut };
}
