import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { GuestError } from '@vitto/contracts';
import { systemClock, type Clock } from '../../../kernel/clock.ts';
import { AgentChannel, type ChannelLink } from './agent-channel.ts';
import { AgentStream } from './agent-stream.ts';
import { encodeFrame, frameParts, FrameReader, ProtocolError, type Frame } from './frame-codec.ts';
import { FIRST_GUEST_ID, PROTOCOL_VERSION, SPOILER_BYTES, TO_GUEST, TO_HOST } from './frame-types.ts';
import { KeepAlive } from './keep-alive.ts';
import { PayloadReader, str, u32 } from './payload.ts';
import { ReadyFinder, type Ready } from './ready-finder.ts';
import { resumeGuest, type ResumeRequest } from './resume-guest.ts';
import { withLimit, type CallLink } from './with-limit.ts';

/** Frames that wait for a guest that does not read. Data waits for room before; these are answers and credit. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** Streams that a guest may have open at a time. */
const MAX_GUEST_STREAMS = 256;
/** A guest that runs answers in 20 ms. The zeros of a spoiler take as long again without KVM, so they are not sent at once. */
const SPOIL_AFTER_MS = 300;
/** Payloads below this are written in one piece with their frame. */
const SMALL_BYTES = 4096;

/** Takes a stream that the guest opens. `about` comes from the guest: for `git` its arguments, each followed by NUL. */
export type StreamHandler = (what: string, about: string, stream: Duplex) => void;

export interface ConnectOptions {
  /** How long the agent may take to answer; it may still be starting. Default 30 s. */
  limitMs?: number;
  signal?: AbortSignal;
  /** Without one, streams that the guest opens are refused. */
  onOpen?: StreamHandler;
  clock?: Clock;
}

/**
 * The host's end of the channel to a guest's agent (`images/guest/PROTOCOL.md`). Nothing that comes from the guest is
 * trusted: what breaks the protocol ends the connection, and what it may make the host hold is bounded by the windows.
 * A broken connection is not mended: make a new one over a new transport.
 */
export class AgentConnection implements ChannelLink, CallLink {
  /** What the agent said of itself when it answered. */
  readonly ready: Ready;
  /** Settles when the connection has ended, whatever ended it. Never rejects. */
  readonly ended: Promise<{ reason: string }>;
  readonly #clock: Clock;
  readonly #transport: Duplex;
  readonly #reader = new FrameReader();
  readonly #channels = new Map<number, AgentChannel>();
  readonly #turns: (() => void)[] = [];
  readonly #keepAlive: KeepAlive;
  readonly #onOpen: StreamHandler | undefined;
  #isFull = false;
  #lastId = 0;
  #end: ((end: { reason: string }) => void) | null = null;

  /** Finds the agent behind a transport. @throws GuestError `unavailable` when none answers; the transport is destroyed then. */
  static async open(transport: Duplex, options: ConnectOptions = {}): Promise<AgentConnection> {
    transport.on('error', () => undefined);
    try {
      const { ready, rest } = await greet(transport, options);
      const connection = new AgentConnection(transport, ready, options);
      connection.#receive(rest);
      if (transport.destroyed) connection.#break(GONE);
      transport.resume();
      return connection;
    } catch (error) {
      transport.destroy();
      throw error;
    }
  }

  private constructor(transport: Duplex, ready: Ready, { onOpen, clock = systemClock }: ConnectOptions) {
    this.#transport = transport;
    this.ready = ready;
    this.#clock = clock;
    this.#onOpen = onOpen;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#keepAlive = new KeepAlive({
      isNeeded: () => this.#channels.size > 0,
      ask: () => this.send(TO_GUEST.ping, 0),
      onSilence: (reason) => this.#break(reason),
    });
    transport.on('data', (chunk: Buffer) => this.#receive(chunk));
    transport.on('drain', () => this.#giveTurns());
    transport.on('error', (error) => this.#break(error.message));
    transport.on('close', () => this.#break(GONE));
    transport.on('end', () => this.#break(GONE));
  }

  get isOpen(): boolean {
    return this.#end !== null;
  }

  /** A channel of a new id. @throws GuestError `session-lost` when the connection has ended. */
  openChannel(): AgentChannel {
    if (!this.isOpen) throw connectionLost('it has ended');
    do this.#lastId = (this.#lastId % (FIRST_GUEST_ID - 1)) + 1;
    while (this.#channels.has(this.#lastId));
    return this.#addChannel(this.#lastId);
  }

  /** Milliseconds that the agent took to answer. */
  async ping(limitMs = 10_000): Promise<number> {
    const startedAt = this.#clock.monotonic();
    await withLimit(this, { limitMs }, async (channel) => {
      channel.send(TO_GUEST.ping, randomBytes(8));
      await channel.expect(TO_HOST.pong);
    });
    return this.#clock.monotonic() - startedAt;
  }

  /**
   * Gives the guest the time, fresh randomness and its keys: the first call after each start and each restore.
   * @throws GuestError when the guest's clock is not within 2 s afterwards, or it refuses; it must not be used then.
   */
  resume(request: ResumeRequest): Promise<void> {
    return resumeGuest(this, this.#clock, request);
  }

  /** Everything that was written is on the guest's disk. */
  async sync(limitMs = 60_000): Promise<void> {
    await withLimit(this, { limitMs }, async (channel) => {
      channel.send(TO_GUEST.sync);
      await channel.expect(TO_HOST.synced);
    });
  }

  /** Asks the machine to end itself. Not answered: the caller waits for the VM's end, and ends it when that does not come. */
  shutdown(): void {
    this.send(TO_GUEST.shutdown, 0);
  }

  /** A stream to an sshd of its own. A refusal arrives as the stream's error. */
  connectSshd(): Duplex {
    const channel = this.openChannel();
    channel.send(TO_GUEST.connect, str('sshd'));
    return this.#stream(channel);
  }

  /** Ends the connection. Commands in the guest go on. */
  close(): void {
    this.#break('it was closed');
  }

  /** Whoever finds that the guest broke the protocol says so here. */
  violate(error: ProtocolError): void {
    this.#break(`the machine's agent broke its protocol: ${error.message}`);
  }

  send(type: number, id: number, payload: Buffer = EMPTY): void {
    if (!this.isOpen) return;
    if (payload.length < SMALL_BYTES) this.#isFull = !this.#transport.write(encodeFrame(type, id, payload));
    else {
      this.#transport.cork();
      for (const part of frameParts(type, id, payload)) this.#isFull = !this.#transport.write(part);
      this.#transport.uncork();
    }
    if (this.#transport.writableLength > MAX_UNREAD_BYTES) this.#break('the agent does not read');
  }

  takeTurn(write: () => void): Promise<void> {
    if (!this.#isFull && this.#turns.length === 0) {
      write();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#turns.push(() => {
        write();
        resolve();
      });
    });
  }

  forget(id: number): void {
    this.#channels.delete(id);
  }

  #giveTurns(): void {
    this.#isFull = false;
    while (!this.#isFull && this.#turns.length > 0) this.#turns.shift()?.();
  }

  #receive(chunk: Buffer): void {
    if (!this.isOpen) return;
    this.#keepAlive.hear();
    try {
      this.#reader.push(chunk, (frame) => this.#dispatch(frame));
    } catch (error) {
      if (error instanceof ProtocolError) this.violate(error);
      else throw error;
    }
  }

  #dispatch(frame: Frame): void {
    if (!this.isOpen) return;
    const channel = this.#channels.get(frame.id);
    if (frame.type === TO_HOST.open) this.#accept(frame);
    else if (frame.type < 0x80) throw new ProtocolError(`type ${frame.type} is not one for the host`);
    // What was under way for an id that has ended here is dropped.
    else channel?.deliver(frame);
  }

  #accept({ id, payload }: Frame): void {
    const reader = new PayloadReader(payload);
    const what = reader.str().toString('utf8');
    const about = reader.str().toString('utf8');
    if (id < FIRST_GUEST_ID || this.#channels.has(id))
      throw new ProtocolError('a stream has an id that is taken');
    const open = [...this.#channels.keys()].filter((other) => other >= FIRST_GUEST_ID).length;
    if (this.#onOpen === undefined || open >= MAX_GUEST_STREAMS) {
      const reason = this.#onOpen === undefined ? 'not available' : 'too many connections are open';
      this.send(TO_GUEST.reset, id, str(reason));
      return;
    }
    const channel = this.#addChannel(id);
    channel.send(TO_GUEST.accepted);
    const stream = this.#stream(channel);
    try {
      this.#onOpen(what, about, stream);
    } catch (error) {
      stream.destroy(error as Error);
    }
  }

  #addChannel(id: number): AgentChannel {
    const channel = new AgentChannel(id, this);
    this.#channels.set(id, channel);
    return channel;
  }

  #stream(channel: AgentChannel): Duplex {
    return new AgentStream(channel, (error) => this.violate(error));
  }

  #break(reason: string): void {
    const end = this.#end;
    if (end === null) return;
    this.#end = null;
    this.#keepAlive.stop();
    this.#transport.destroy();
    for (const channel of [...this.#channels.values()]) channel.fail(connectionLost(reason));
    for (const turn of this.#turns.splice(0)) turn();
    end({ reason });
  }
}

const EMPTY = Buffer.alloc(0);
const GONE = 'the machine or its agent has gone';

/** @param reason what happened, as the end of a sentence. */
export function connectionLost(reason: string): GuestError {
  return new GuestError(
    'session-lost',
    `The connection to the machine broke: ${reason}.`,
    'Try again: the machine is reached anew, or restored with the files it had.',
  );
}

/**
 * Says HELLO and waits for the READY that answers it. Where none comes soon, an earlier host may have left a frame
 * half-written that has swallowed it: that one is spoilt, and HELLO said anew. From then on only the READY of the
 * second counts, since the guest lets go of everything at each.
 */
function greet(transport: Duplex, options: ConnectOptions): Promise<{ ready: Ready; rest: Buffer }> {
  const { limitMs = 30_000, signal } = options;
  signal?.throwIfAborted();
  let finder: ReadyFinder;
  const hello = (): void => {
    const nonce = randomBytes(16);
    finder = new ReadyFinder(nonce);
    transport.write(encodeFrame(TO_GUEST.hello, 0, Buffer.concat([nonce, u32(PROTOCOL_VERSION)])));
  };
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      clearTimeout(spoiling);
      // Nothing may pass between this listener and the next.
      transport.pause();
      transport.off('data', onData).off('close', onClose).off('end', onClose);
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const refuse = (message: string): void => finish(() => reject(notAnswering(message)));
    const onAbort = (): void => finish(() => reject(signal?.reason));
    const onClose = (): void => refuse('The channel to the machine closed before its agent answered.');
    const onData = (chunk: Buffer): void => {
      const found = finder.push(chunk);
      if (found === null) return;
      const { version } = found.ready;
      if (version === PROTOCOL_VERSION) finish(() => resolve(found));
      else refuse(`The machine's agent speaks version ${version} of the protocol, not ${PROTOCOL_VERSION}.`);
    };
    const timer = setTimeout(
      () => refuse(`The machine's agent did not answer within ${limitMs} ms.`),
      limitMs,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    transport.on('data', onData).on('close', onClose).on('end', onClose);
    const spoiling = setTimeout(() => {
      transport.write(Buffer.alloc(SPOILER_BYTES));
      hello();
    }, SPOIL_AFTER_MS);
    hello();
  });
}

function notAnswering(message: string): GuestError {
  return new GuestError('unavailable', message, 'Destroy the machine; the next use boots its disk.');
}
