import { GuestError } from '@vitto/contracts';
import { ByteQueue } from '../byte-queue.ts';
import { ProtocolError, type Frame } from './frame-codec.ts';
import { DATA_TYPES, MAX_PAYLOAD_BYTES, TO_GUEST, TO_HOST, WINDOW_BYTES } from './frame-types.ts';
import { PayloadReader, str, u32 } from './payload.ts';

/** Credit is given back in parts of this size, so that a sender never runs dry for want of a small frame. */
const CREDIT_STEP = 65_536;
/** More than any agent gives; what goes beyond is a forgery. */
const MAX_CREDIT = 64 * WINDOW_BYTES;
/** Frames other than data that may wait for one caller. */
const MAX_WAITING_FRAMES = 64;

/** What a channel needs of its connection. */
export interface ChannelLink {
  send(type: number, id: number, payload?: Buffer): void;
  /** Calls `write` as soon as the transport has room, one caller after the other. */
  takeTurn(write: () => void): Promise<void>;
  /** The id is free again, and what still comes for it is dropped. */
  forget(id: number): void;
}

/** What waits for the caller: a frame, or data between two frames, by type. */
type Waiting = { frame: Frame } | { data: Map<number, ByteQueue> };

/** One id of a connection: frames to and from it, with the credit of both directions. Bounded by the window. */
export class AgentChannel {
  readonly id: number;
  readonly #link: ChannelLink;
  readonly #inbox: Waiting[] = [];
  #waiter: { resolve: (frame: Frame) => void; reject: (error: unknown) => void } | null = null;
  #error: { reason: unknown } | null = null;
  #isEnded = false;
  #credit = WINDOW_BYTES;
  #whenCredited: (() => void)[] = [];
  /** Received and not given back as credit. */
  #held = 0;
  /** Of these, what the caller is done with. */
  #owed = 0;
  #takenBytes = 0;
  /** Called once when the channel fails: the guest reset it, or the connection broke. */
  onFail: (error: unknown) => void = () => undefined;

  constructor(id: number, link: ChannelLink) {
    this.id = id;
    this.#link = link;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  send(type: number, payload?: Buffer): void {
    if (!this.#isEnded) this.#link.send(type, this.id, payload);
  }

  /** Sends data frames as credit and transport allow. Rejects when the channel fails or is given up meanwhile. */
  async sendData(type: number, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      this.#assertOpen();
      if (this.#credit === 0) {
        await new Promise<void>((resolve) => this.#whenCredited.push(resolve));
        continue;
      }
      await this.#link.takeTurn(() => {
        if (this.#isEnded) return;
        const part = bytes.subarray(at, at + Math.min(MAX_PAYLOAD_BYTES, this.#credit));
        this.#credit -= part.length;
        at += part.length;
        this.#link.send(type, this.id, part);
      });
    }
    this.#assertOpen();
  }

  /** The next frame. Asking for it says that the caller is done with the data of the one before. One caller at a time. */
  next(): Promise<Frame> {
    this.#giveBack();
    if (this.#error !== null) return Promise.reject(this.#error.reason);
    const frame = this.#takeFromInbox();
    if (frame !== null) return Promise.resolve(this.#taken(frame));
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  /** The next frame, which is to be of this type. @throws GuestError where the guest says FAIL instead. */
  async expect(type: number): Promise<PayloadReader> {
    const frame = await this.next();
    if (frame.type === TO_HOST.fail) throw this.failure(frame);
    if (frame.type !== type) throw new ProtocolError(`a frame of type ${frame.type} is out of place`);
    return new PayloadReader(frame.payload);
  }

  /** What a FAIL says, which is the last frame of its id. */
  failure({ payload }: Frame): AgentFailure {
    this.end();
    const reader = new PayloadReader(payload);
    return new AgentFailure(reader.u16(), reader.str().toString('utf8'));
  }

  /** Takes what came for this id. @throws ProtocolError */
  deliver(frame: Frame): void {
    const isData = DATA_TYPES.has(frame.type);
    if (frame.type === TO_HOST.credit) this.#addCredit(new PayloadReader(frame.payload).u32());
    else if (frame.type === TO_HOST.reset) {
      const reason = new PayloadReader(frame.payload).str().toString('utf8');
      this.fail(new Error(reason || 'The other end of the stream has gone.'));
    } else if (!isData || frame.payload.length > 0) {
      if (isData) this.#hold(frame.payload.length);
      if (this.#waiter === null) this.#keep(frame, isData);
      else this.#handOver(frame);
    }
  }

  /** Its last frame has come, or the guest knows already that none is wanted. */
  end(): void {
    this.#finish({ reason: new GuestError('session-lost', 'The call has ended.') });
  }

  /** Tells the guest that the rest is not wanted; whoever waits gets `error`. */
  giveUp(error: unknown): void {
    if (this.#isEnded) return;
    const reason = error instanceof Error ? error.message.slice(0, 1000) : '';
    this.#link.send(TO_GUEST.reset, this.id, str(reason));
    this.#finish({ reason: error });
  }

  /** The connection broke, or the guest ended it before its time. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#finish({ reason: error });
    this.onFail(error);
  }

  #finish(error: { reason: unknown }): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    this.#inbox.length = 0;
    this.#link.forget(this.id);
    this.#waiter?.reject(error.reason);
    this.#waiter = null;
    for (const resolve of this.#whenCredited.splice(0)) resolve();
  }

  #assertOpen(): void {
    if (this.#error !== null) throw this.#error.reason;
  }

  #addCredit(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > MAX_CREDIT) throw new ProtocolError('more credit than any window has');
    for (const resolve of this.#whenCredited.splice(0)) resolve();
  }

  #hold(bytes: number): void {
    this.#held += bytes;
    if (this.#held > WINDOW_BYTES) throw new ProtocolError('more data than there was credit for');
  }

  #giveBack(): void {
    this.#owed += this.#takenBytes;
    this.#takenBytes = 0;
    if (this.#owed < CREDIT_STEP || this.#isEnded) return;
    this.#held -= this.#owed;
    this.#link.send(TO_GUEST.credit, this.id, u32(this.#owed));
    this.#owed = 0;
  }

  #keep(frame: Frame, isData: boolean): void {
    let last = this.#inbox.at(-1);
    if (!isData) {
      if (this.#inbox.length >= MAX_WAITING_FRAMES) throw new ProtocolError('too many frames for one call');
      // The payload may be a view of a much larger chunk.
      this.#inbox.push({ frame: { ...frame, payload: Buffer.from(frame.payload) } });
      return;
    }
    if (last === undefined || !('data' in last)) {
      last = { data: new Map() };
      this.#inbox.push(last);
    }
    const queue = last.data.get(frame.type) ?? new ByteQueue();
    last.data.set(frame.type, queue);
    queue.push(frame.payload);
  }

  #takeFromInbox(): Frame | null {
    const first = this.#inbox[0];
    if (first === undefined) return null;
    if ('frame' in first) {
      this.#inbox.shift();
      return first.frame;
    }
    for (const [type, queue] of first.data) {
      const payload = queue.shift();
      if (queue.size === 0) first.data.delete(type);
      if (first.data.size === 0) this.#inbox.shift();
      return { type, id: this.id, payload };
    }
    return null;
  }

  #handOver(frame: Frame): void {
    const waiter = this.#waiter;
    this.#waiter = null;
    waiter?.resolve(this.#taken(frame));
  }

  #taken(frame: Frame): Frame {
    if (DATA_TYPES.has(frame.type)) this.#takenBytes = frame.payload.length;
    return frame;
  }
}

/** The guest's refusal, as the protocol has it. */
export class AgentFailure extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'AgentFailure';
    this.code = code;
  }
}
