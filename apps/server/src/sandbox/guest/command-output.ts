import type { CapturedOutput, ExecRequest } from '@vitto/contracts';
import { OutputCapture } from './captured-output.ts';
import { LiveOutput } from './live-output.ts';

type Stream = 'stdout' | 'stderr';

/** What becomes of a running command's output in every guest: captured, reported, spooled, and bounded. */
export class CommandOutput {
  readonly #captures = { stdout: new OutputCapture(), stderr: new OutputCapture() };
  readonly #live: LiveOutput | undefined;
  readonly #spool: ExecRequest['spool'];
  readonly #onTooMuch: () => void;
  #left: number;

  /** @param onTooMuch called once when more than `maxBytes` have come; what comes after that is dropped. */
  constructor(
    { onOutput, spool }: Pick<ExecRequest, 'onOutput' | 'spool'>,
    maxBytes: number,
    onTooMuch: () => void,
  ) {
    this.#live = onOutput && new LiveOutput(onOutput);
    this.#spool = spool && inOrder(spool);
    this.#left = maxBytes;
    this.#onTooMuch = onTooMuch;
  }

  /** Resolves when the spool has taken it. Never rejects. */
  async push(stream: Stream, chunk: Buffer): Promise<void> {
    if (this.#left <= 0) return;
    const kept = chunk.length > this.#left ? chunk.subarray(0, this.#left) : chunk;
    this.#left -= chunk.length;
    if (this.#left <= 0) this.#onTooMuch();
    this.#captures[stream].push(kept);
    this.#live?.push(stream, kept);
    await this.#spool?.(stream, kept);
  }

  /** Hands on what waits to be reported, and gives what was captured. */
  finish(): { stdout: CapturedOutput; stderr: CapturedOutput } {
    this.#live?.end();
    return { stdout: this.#captures.stdout.finish(), stderr: this.#captures.stderr.finish() };
  }
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
