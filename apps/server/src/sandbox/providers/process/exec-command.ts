import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GuestError, type ExecRequest, type ExecResult } from '@vitto/contracts';
import { CommandOutput } from '../../guest/command-output.ts';
import { signalName } from '../../guest/signal-names.ts';
import type { RunningSandbox, SandboxEnd } from './running-sandbox.ts';

/** Between TERM and KILL. A little under the 2 s of the specification, so that the reply comes within them. */
const GRACE_MS = 1800;
/** The same after a cancel, which must be prompt. */
const CANCEL_GRACE_MS = 400;

type Stream = 'stdout' | 'stderr';

/** Waits for a command that has just been started, capturing what it prints. Rejects with the signal's reason on abort, once it is gone. */
export async function waitForCommand(
  sandbox: RunningSandbox,
  request: Pick<ExecRequest, 'timeoutMs' | 'signal' | 'onOutput' | 'spool'>,
  outputBytes: number,
): Promise<ExecResult> {
  const startedAt = performance.now();
  const output = new CommandOutput(request, outputBytes, () => sandbox.kill('output'));
  const drain = async (name: Stream, stream: Readable): Promise<void> => {
    for await (const chunk of stream as AsyncIterable<Buffer>) await output.push(name, chunk);
  };
  const drained = Promise.all([drain('stdout', sandbox.stdout), drain('stderr', sandbox.stderr)]).catch(
    () => undefined,
  );
  const ender = endWhenDue(sandbox, request);
  const end = await sandbox.ended;
  ender.stop();
  // Nobody writes any more, so this ends as soon as `spool` has taken what is left; one that hangs is left behind.
  await Promise.race([drained, sleep(10_000, undefined, { ref: false })]);
  const { stdout, stderr } = output.finish();
  request.signal?.throwIfAborted();

  if (!ender.hasTimedOut()) assertStarted(end, stderr.text);
  return {
    ...howItEnded(end),
    timedOut: ender.hasTimedOut() && end.limit === null,
    limit: end.limit,
    stdout,
    stderr,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/** Ends the sandbox at its time-out or when the caller aborts: TERM to all in it, then KILL. */
function endWhenDue(
  sandbox: RunningSandbox,
  { timeoutMs, signal }: Pick<ExecRequest, 'timeoutMs' | 'signal'>,
): { stop: () => void; hasTimedOut: () => boolean } {
  let hasTimedOut = false;
  let kill: NodeJS.Timeout | undefined;
  const end = (graceMs: number): void => {
    sandbox.terminate();
    clearTimeout(kill);
    kill = setTimeout(() => sandbox.kill(), graceMs);
  };
  const timer = setTimeout(() => {
    hasTimedOut = true;
    end(GRACE_MS);
  }, timeoutMs);
  const onAbort = (): void => end(CANCEL_GRACE_MS);
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    hasTimedOut: () => hasTimedOut,
    stop: () => {
      clearTimeout(timer);
      clearTimeout(kill);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

function assertStarted(end: SandboxEnd, stderr: string): void {
  if (end.isCwdMissing) throw new GuestError('not-found', 'The working directory does not exist.');
  if (end.hasStarted || end.limit !== null) return;
  const reason = stderr.trim().split('\n')[0] ?? '';
  throw new GuestError(
    'unavailable',
    `The sandbox did not start: ${reason || `exit code ${end.exitCode}`}`,
    'Run `npm run vitto -- doctor`.',
  );
}

function howItEnded({ status }: SandboxEnd): Pick<ExecResult, 'exitCode' | 'signal' | 'leftoversKilled'> {
  if (status === null) return { exitCode: null, signal: 'SIGKILL', leftoversKilled: 0 };
  if (status.signal === 0) return { exitCode: status.exit, signal: null, leftoversKilled: status.leftovers };
  return {
    exitCode: null,
    signal: signalName(status.signal),
    leftoversKilled: status.leftovers,
  };
}

/** Ends a sandbox as a time-out does and waits until it is gone. */
export async function endSandbox(sandbox: RunningSandbox, graceMs = CANCEL_GRACE_MS): Promise<void> {
  sandbox.terminate();
  await Promise.race([sandbox.ended, sleep(graceMs, undefined, { ref: false })]);
  sandbox.kill();
  await sandbox.ended;
}
