import { Duplex } from 'node:stream';
import type { AgentChannel } from './agent-channel.ts';
import { ProtocolError } from './frame-codec.ts';
import { TO_GUEST, TO_HOST } from './frame-types.ts';

/**
 * A byte stream to something in the guest: half-closes, holds back and is torn down in both directions as a TCP
 * connection is. Destroying it with an error tells the guest the error's message as the reason.
 */
export class AgentStream extends Duplex {
  readonly #channel: AgentChannel;
  readonly #onViolation: (error: ProtocolError) => void;
  #whenWanted: (() => void) | null = null;
  #hasGuestEnded = false;
  #hasHostEnded = false;

  /** @param onViolation the guest broke the protocol: the connection is of no use any more. */
  constructor(channel: AgentChannel, onViolation: (error: ProtocolError) => void) {
    super({ allowHalfOpen: true });
    this.#channel = channel;
    this.#onViolation = onViolation;
    // A guest can end a stream with an error at any time; that nobody listens must not end the server.
    this.on('error', () => undefined);
    channel.onFail = (error) => this.destroy(error as Error);
    void this.#pump();
  }

  override _read(): void {
    this.#whenWanted?.();
    this.#whenWanted = null;
  }

  override _write(chunk: Buffer, _: string, callback: (error?: Error | null) => void): void {
    this.#channel.sendData(TO_GUEST.bytes, chunk).then(
      () => callback(),
      (error: unknown) => callback(error as Error),
    );
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#channel.send(TO_GUEST.eof);
    this.#hasHostEnded = true;
    this.#endIfBothHave();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#channel.giveUp(error ?? new Error(''));
    this._read();
    callback(error);
  }

  async #pump(): Promise<void> {
    try {
      while (!this.#channel.isEnded) {
        const { type, payload } = await this.#channel.next();
        if (type === TO_HOST.bytes && !this.#hasGuestEnded) await this.#hand(payload);
        else if (type === TO_HOST.eof && !this.#hasGuestEnded) {
          this.#hasGuestEnded = true;
          this.push(null);
          this.#endIfBothHave();
        } else if (type === TO_HOST.fail) {
          throw this.#channel.failure({ type, id: this.#channel.id, payload });
        } else if (type !== TO_HOST.accepted) {
          throw new ProtocolError(`a frame of type ${type} is out of place in a stream`);
        }
      }
    } catch (error) {
      if (error instanceof ProtocolError) this.#onViolation(error);
      // Once both directions have ended, what the wait is ended with means nothing.
      if (!(this.#hasGuestEnded && this.#hasHostEnded)) this.destroy(error as Error);
    }
  }

  /** Waits until the reader wants more; only then is credit given back. */
  async #hand(payload: Buffer): Promise<void> {
    const wanted = new Promise<void>((resolve) => (this.#whenWanted = resolve));
    if (!this.push(payload) && !this.destroyed) await wanted;
  }

  #endIfBothHave(): void {
    if (this.#hasGuestEnded && this.#hasHostEnded) this.#channel.end();
  }
}
