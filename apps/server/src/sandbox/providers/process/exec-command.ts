import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GuestError, type ExecRequest, type ExecResult } from '@vitto/contracts';
import { OutputCapture } from '../../guest/captured-output.ts';
import { LiveOutput } from '../../guest/live-output.ts';
import type { RunningSandbox, SandboxEnd } from './running-sandbox.ts';

/** Between TERM and KILL. A little under the 2 s of the specification, so that the reply comes within them. */
const GRACE_MS = 1800;
/** The same after a cancel, which must be prompt. */
const CANCEL_GRACE_MS = 400;
/** Signals by number. */
const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

type Stream = 'stdout' | 'stderr';

/** Waits for a command that has just been started, capturing what it prints. Rejects with the signal's reason on abort, once it is gone. */
export async function waitForCommand(
  sandbox: RunningSandbox,
  request: Pick<ExecRequest, 'timeoutMs' | 'signal' | 'onOutput' | 'spool'>,
  outputBytes: number,
): Promise<ExecResult> {
  const startedAt = performance.now();
  const captures = { stdout: new OutputCapture(), stderr: new OutputCapture() };
  const live = request.onOutput && new LiveOutput(request.onOutput);
  const spool = request.spool && inOrder(request.spool);
  let left = outputBytes;

  const drain = async (name: Stream, stream: Readable): Promise<void> => {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (left <= 0) continue;
      const kept = chunk.length > left ? chunk.subarray(0, left) : chunk;
      left -= chunk.length;
      if (left <= 0) sandbox.kill('output');
      captures[name].push(kept);
      live?.push(name, kept);
      await spool?.(name, kept);
    }
  };
  const drained = Promise.all([drain('stdout', sandbox.stdout), drain('stderr', sandbox.stderr)]).catch(
    () => undefined,
  );
  const ender = endWhenDue(sandbox, request);
  const end = await sandbox.ended;
  ender.stop();
  // Nobody writes any more, so this ends as soon as `spool` has taken what is left; one that hangs is left behind.
  await Promise.race([drained, sleep(10_000, undefined, { ref: false })]);
  live?.end();
  request.signal?.throwIfAborted();

  const stderr = captures.stderr.finish();
  if (!ender.hasTimedOut()) assertStarted(end, stderr.text);
  return {
    ...howItEnded(end),
    timedOut: ender.hasTimedOut() && end.limit === null,
    limit: end.limit,
    stdout: captures.stdout.finish(),
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

/** One call at a time, in order; after the first failure nothing more is given to it. */
function inOrder(spool: NonNullable<ExecRequest['spool']>): NonNullable<ExecRequest['spool']> {
  let last: Promise<void> = Promise.resolve();
  let hasFailed = false;
  return (stream, bytes) => {
    last = last
      .then(() => (hasFailed ? undefined : spool(stream, bytes)))
      .catch(() => {
        hasFailed = true;
      });
    return last;
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
    signal: SIGNALS.get(status.signal) ?? `signal ${status.signal}`,
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
