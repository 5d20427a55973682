import { problem } from '@vitto/contracts';
import { CliError, EXIT, type ExitCode } from './cli-error.ts';
import { commandLine } from './command-line.ts';

/** The error for a server that does not answer, with the way to start it. */
export function unreachable(url: URL, error: unknown): CliError {
  const code = causeCode(error);
  const reason = code === undefined ? '' : ` (${code})`;
  return new CliError(
    EXIT.unreachable,
    'cli.unreachable',
    `Cannot reach Vitto at ${url.origin}${reason}.`,
    `Start it with "${commandLine('start')}", or say where it is with --url or VITTO_URL.`,
  );
}

/** Turns an answer that is no success into what to tell, by its problem details when it has some. */
export async function readProblem(response: Response): Promise<CliError> {
  const parsed = problem.safeParse(await response.json().catch(() => undefined));
  const exitCode = exitCodeOf(response.status);
  if (exitCode === EXIT.notSignedIn) {
    return new CliError(
      exitCode,
      parsed.data?.code ?? 'cli.not-signed-in',
      'You are not signed in to this server.',
      'Give a token with --token or VITTO_TOKEN. On the machine where the server runs, its own user needs none.',
    );
  }
  if (!parsed.success) {
    return new CliError(
      exitCode,
      'cli.bad-answer',
      `The server answered ${response.status} and did not say why.`,
      `Is this the address of Vitto? "${commandLine('doctor')}" looks.`,
    );
  }
  const { code, title, detail, hint, errors } = parsed.data;
  // The hint has a line of its own, and what the sentence names already is not said again.
  const what = detail === undefined || (hint !== undefined && detail.endsWith(hint)) ? title : detail;
  const fields = (errors ?? [])
    .map((error) => `${error.path || 'request'}: ${error.message}`)
    .filter((field) => !what.includes(field))
    .join('; ');
  return new CliError(exitCode, code, `${what}${fields === '' ? '' : ` (${fields})`}`, hint);
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401) return EXIT.notSignedIn;
  if (status === 403) return EXIT.waiting;
  if (status >= 502 && status <= 504) return EXIT.unreachable;
  return status < 500 && status !== 429 ? EXIT.usage : EXIT.failed;
}

/** True when a request may have been cut on its way; false where nobody listens or nobody answered in time. */
export function isBroken(error: unknown): boolean {
  const code = causeCode(error);
  return code !== 'ECONNREFUSED' && code !== 'ENOTFOUND' && code !== 'TimeoutError';
}

function causeCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'TimeoutError') return 'TimeoutError';
  const cause = error.cause as { code?: unknown } | undefined;
  return typeof cause?.code === 'string' ? cause.code : undefined;
}
