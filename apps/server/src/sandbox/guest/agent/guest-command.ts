import { GuestError } from '@vitto/contracts';
import { AgentFailure, type AgentChannel } from './agent-channel.ts';
import { BUSY } from './agent-failures.ts';
import { ProtocolError } from './frame-codec.ts';
import { MAX_PAYLOAD_BYTES, TO_GUEST, TO_HOST } from './frame-types.ts';
import { readOutcome, type Outcome } from './outcome.ts';
import { PayloadReader, str, u16, u32, u8 } from './payload.ts';
import { toCallersError, type CallLink } from './with-limit.ts';

/** Between TERM and KILL after a cancel. */
const CANCEL_GRACE_MS = 2000;
/** How much longer than its limit a command may take to end, until the machine is no longer waited for. */
const LATE_MS = 30_000;

export interface GuestCommand {
  /** Sum of `FLAG`. */
  flags: number;
  /** Name of its record; empty without one. */
  record: string;
  /** Absolute. */
  cwd: Buffer;
  argv: (string | Buffer)[];
  /** `NAME=value`. */
  env: string[];
  stdin?: Buffer;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** @throws GuestError when it does not fit into a frame. */
export function execPayload(command: Omit<GuestCommand, 'stdin' | 'signal'>): Buffer {
  const payload = Buffer.concat([
    u8(command.flags),
    u32(command.timeoutMs),
    str(command.record),
    str(command.cwd),
    ...strings(command.argv),
    ...strings(command.env),
  ]);
  if (payload.length <= MAX_PAYLOAD_BYTES) return payload;
  throw new GuestError(
    'too-large',
    'The command is too long.',
    'Write it to a file with write_file and run that.',
  );
}

function strings(values: (string | Buffer)[]): Buffer[] {
  if (values.length > 0xffff) throw new GuestError('too-large', 'There are too many variables.');
  return [u16(values.length), ...values.map(str)];
}

/** Takes output; the command is held back while it has not resolved. */
export type OutputTaker = (stream: 'stdout' | 'stderr', bytes: Buffer) => Promise<void>;

/**
 * Runs a command in the guest to its end. Rejects with the signal's reason on abort, once the command is gone.
 */
export class CommandRun {
  readonly #link: CallLink;
  readonly #channel: AgentChannel;
  readonly #command: GuestCommand;
  readonly #onOutput: OutputTaker;
  /** What is left of the time in which the machine may keep us waiting; what we take ourselves does not count. */
  #leftMs: number;

  constructor(link: CallLink, command: GuestCommand, onOutput: OutputTaker) {
    this.#link = link;
    this.#command = command;
    this.#onOutput = onOutput;
    this.#leftMs = command.timeoutMs + LATE_MS;
    this.#channel = link.openChannel();
  }

  /** Ends it at once. */
  kill(): void {
    this.#channel.send(TO_GUEST.stop, u32(0));
  }

  async wait(): Promise<Outcome> {
    const { signal, stdin } = this.#command;
    let lastCall: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      this.#channel.send(TO_GUEST.stop, u32(CANCEL_GRACE_MS));
      lastCall = setTimeout(() => this.#channel.giveUp(signal?.reason), CANCEL_GRACE_MS + LATE_MS / 3);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      this.#channel.send(TO_GUEST.exec, execPayload(this.#command));
      if (stdin !== undefined) void this.#sendStdin(stdin);
      const outcome = await this.#readToEnd();
      signal?.throwIfAborted();
      return outcome;
    } catch (error) {
      throw error instanceof AgentFailure && error.code === BUSY && this.#command.record !== ''
        ? alreadyRun()
        : toCallersError(this.#link, error);
    } finally {
      clearTimeout(lastCall);
      signal?.removeEventListener('abort', onAbort);
      this.#channel.end();
    }
  }

  async #readToEnd(): Promise<Outcome> {
    for (;;) {
      const frame = await this.#next();
      if (frame.type === TO_HOST.stdout) await this.#onOutput('stdout', frame.payload);
      else if (frame.type === TO_HOST.stderr) await this.#onOutput('stderr', frame.payload);
      else if (frame.type === TO_HOST.exited) return readOutcome(new PayloadReader(frame.payload));
      else if (frame.type === TO_HOST.fail) throw this.#channel.failure(frame);
      else if (frame.type !== TO_HOST.started) throw new ProtocolError(`a command is told a ${frame.type}`);
    }
  }

  async #next(): ReturnType<AgentChannel['next']> {
    const startedAt = performance.now();
    const timer = setTimeout(() => {
      this.#channel.giveUp(
        new GuestError(
          'timed-out',
          'The machine did not say how the command ended.',
          'Look at what it changed.',
        ),
      );
    }, this.#leftMs);
    try {
      return await this.#channel.next();
    } finally {
      clearTimeout(timer);
      this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - startedAt));
    }
  }

  /** A command that has ended or does not read takes no more; its end says what there is to say. */
  async #sendStdin(bytes: Buffer): Promise<void> {
    try {
      await this.#channel.sendData(TO_GUEST.stdin, bytes);
      this.#channel.send(TO_GUEST.stdin);
    } catch {
      // The channel has ended.
    }
  }
}

/** A call's command is run once, however often it is asked for. */
function alreadyRun(): GuestError {
  return new GuestError(
    'unavailable',
    'The command of this call was run before.',
    'Read the record that the machine keeps of it.',
  );
}
