import type { Duplex } from 'node:stream';
import { ProviderError } from '../sandbox-provider.ts';

/** A line of QEMU's monitor is never as long as this, unless something is wrong with it. */
const MAX_LINE = 1024 * 1024;
/** QEMU answers in a millisecond; on a busy host it may have to be read from the disk first. */
const TIMEOUT_MS = 30_000;

interface Message {
  id?: number;
  return?: unknown;
  error?: { class: string; desc: string };
  event?: string;
  data?: Record<string, unknown>;
}
interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** QEMU's monitor protocol over a byte channel: commands with ids and time limits, and events. */
export class QmpClient {
  readonly #channel: Duplex;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<(event: string, data: Record<string, unknown>) => void>();
  #nextId = 1;
  #line = '';
  #closed: Error | null = null;

  /** `capabilities` are negotiated by the first command that is sent: QEMU answers in order. */
  constructor(channel: Duplex) {
    this.#channel = channel;
    channel.setEncoding('utf8');
    channel.on('data', (text: string) => this.#take(text));
    channel.on('error', (error) => this.#end(error));
    for (const end of ['end', 'close'])
      channel.on(end, () => this.#end(new Error('QEMU closed its monitor')));
  }

  /** Must come first. */
  async negotiate(): Promise<void> {
    await this.execute('qmp_capabilities');
  }

  /** @throws ProviderError `start-failed` when QEMU refuses, does not answer in time or is gone. */
  async execute(command: string, args: object = {}, timeoutMs = TIMEOUT_MS): Promise<unknown> {
    if (this.#closed !== null) throw refusal(command, this.#closed.message);
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    this.#waiting.set(id, { resolve, reject });
    this.#channel.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    try {
      return await promise;
    } catch (error) {
      throw refusal(command, (error as Error).message);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Resolves with the data of the first event that `matches`, from now on. Rejects when time is up or QEMU is gone. */
  waitFor(
    matches: (event: string, data: Record<string, unknown>) => boolean,
    timeoutMs: number,
  ): { event: Promise<Record<string, unknown>>; cancel: () => void } {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    const id = this.#nextId++;
    this.#waiting.set(id, { resolve: () => undefined, reject });
    const timer = setTimeout(() => reject(refusal('wait', `nothing came in ${timeoutMs} ms`)), timeoutMs);
    const listener = (event: string, data: Record<string, unknown>): void => {
      if (matches(event, data)) resolve(data);
    };
    this.#listeners.add(listener);
    const cancel = (): void => {
      clearTimeout(timer);
      this.#listeners.delete(listener);
      this.#waiting.delete(id);
      resolve({});
    };
    promise.then(cancel, cancel);
    if (this.#closed !== null) reject(this.#closed);
    return { event: promise, cancel };
  }

  close(): void {
    this.#channel.destroy();
  }

  #take(text: string): void {
    this.#line += text;
    for (let end = this.#line.indexOf('\n'); end >= 0; end = this.#line.indexOf('\n')) {
      const line = this.#line.slice(0, end).trim();
      this.#line = this.#line.slice(end + 1);
      if (line !== '') this.#read(line);
    }
    if (this.#line.length > MAX_LINE) this.#channel.destroy(new Error('QEMU wrote a line without an end'));
  }

  #read(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      this.#channel.destroy(new Error('QEMU wrote something that is not JSON'));
      return;
    }
    if (message.event !== undefined) {
      for (const listener of this.#listeners) listener(message.event, message.data ?? {});
      return;
    }
    const waiting = message.id === undefined ? undefined : this.#waiting.get(message.id);
    if (message.error === undefined) waiting?.resolve(message.return);
    else waiting?.reject(new Error(message.error.desc));
  }

  #end(error: Error): void {
    this.#closed ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

function refusal(command: string, reason: string): ProviderError {
  return new ProviderError('start-failed', `QEMU did not ${command}: ${reason}`);
}
