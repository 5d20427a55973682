import { GuestError, type ExecRequest, type ExecResult } from '@vitto/contracts';
import { CommandOutput } from '../command-output.ts';
import { CommandRun, type GuestCommand } from './guest-command.ts';
import type { CallLink } from './with-limit.ts';

/** A spool that takes longer than this for one piece has failed; the command goes on without it. */
const SPOOL_MS = 30_000;

/** Runs a command and captures what it prints. @param outputBytes after which it is ended. */
export async function execInGuest(
  link: CallLink,
  command: GuestCommand,
  request: Pick<ExecRequest, 'onOutput' | 'spool' | 'signal'>,
  outputBytes: number,
): Promise<ExecResult> {
  const startedAt = performance.now();
  let isTooMuch = false;
  const output = new CommandOutput(request, outputBytes, () => {
    isTooMuch = true;
    run.kill();
  });
  const aborted = whenAborted(request.signal);
  const run = new CommandRun(link, command, async (stream, bytes) => {
    if (request.signal?.aborted === true) return;
    await withinTime(Promise.race([output.push(stream, bytes), aborted.promise]));
  });
  try {
    const outcome = await run.wait();
    const limit = isTooMuch ? 'output' : outcome.limit;
    return {
      exitCode: outcome.exitCode,
      signal: outcome.signal,
      timedOut: outcome.timedOut && limit === null,
      limit,
      ...output.finish(),
      durationMs: Math.round(performance.now() - startedAt),
      leftoversKilled: outcome.leftoversKilled,
    };
  } catch (error) {
    output.finish();
    throw command.record === '' ? error : withRecordHint(error);
  } finally {
    aborted.stop();
  }
}

function whenAborted(signal: AbortSignal | undefined): { promise: Promise<void>; stop: () => void } {
  let stop = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    const onAbort = (): void => resolve();
    signal?.addEventListener('abort', onAbort, { once: true });
    stop = () => signal?.removeEventListener('abort', onAbort);
  });
  return { promise, stop };
}

async function withinTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise<void>((resolve) => (timer = setTimeout(resolve, SPOOL_MS)))]);
  clearTimeout(timer);
}

/** Losing the connection is not losing the command. */
function withRecordHint(error: unknown): unknown {
  if (!(error instanceof GuestError) || error.code !== 'session-lost') return error;
  return new GuestError(
    'session-lost',
    `${error.message} The command may have gone on.`,
    'Its outcome is in the record that the machine keeps of this call: read that before running it again.',
  );
}
