import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { encodeFrame, packed, PayloadReader, readFrames, type Frame } from './fake-frames.ts';
import { basicShell, type FakeGuest, type FakeOutcome, type FakeShell } from './fake-guest.ts';

const RECORD = 1;
const DETACHED = 8;
const CHUNK = 65_536;

interface Running {
  stop: AbortController;
  record: string | null;
}
interface Writing {
  path: string;
  size: number;
  parts: Buffer[];
}

/**
 * The guest agent of a fake VM: speaks `images/guest/PROTOCOL.md` over one connection at a time, with files and
 * commands that are only in memory. Output of one command is at most a window: it waits for no credit.
 */
export class FakeAgent {
  readonly #guest: FakeGuest;
  readonly #shell: FakeShell;
  readonly #running = new Set<Running>();
  readonly #ids = new Map<number, Running | Writing>();
  #channel: Duplex | null = null;
  #isGreeted = false;

  constructor(guest: FakeGuest, shell: FakeShell) {
    this.#guest = guest;
    this.#shell = (command) => shell(command) ?? basicShell(command);
  }

  connect(channel: Duplex): void {
    this.#channel?.destroy();
    this.#channel = channel;
    channel.on('error', () => undefined);
    channel.on(
      'data',
      readFrames((frame) => {
        if (this.#channel === channel) this.#take(frame);
      }),
    );
  }

  /** The machine ends. */
  end(): void {
    for (const { stop } of this.#running) stop.abort();
    this.#channel?.destroy();
  }

  #send(type: number, id: number, ...parts: Uint8Array[]): void {
    if (this.#channel?.writable === true) this.#channel.write(encodeFrame(type, id, Buffer.concat(parts)));
  }

  #fail(id: number, code: number, message: string): void {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16LE(code);
    this.#send(0x9f, id, bytes, packed.str(message));
    this.#ids.delete(id);
  }

  #take({ type, id, payload }: Frame): void {
    if (type === 0x01) return this.#greet(id, payload);
    if (!this.#isGreeted) return;
    const read = new PayloadReader(payload);
    const calls: Record<number, () => void> = {
      0x02: () => undefined,
      0x03: () => this.#send(0x83, id, payload),
      0x10: () => void this.#exec(id, read),
      0x11: () => undefined,
      0x12: () => this.#stop(id),
      0x13: () => this.#sendRecord(id, read.str()),
      0x14: () => this.#stopRecord(id, read.str()),
      0x21: () => this.#readFile(id, read),
      0x22: () => this.#writeFile(id, read),
      0x23: () => this.#addContent(id, payload),
      0x24: () => this.#list(id, read.str()),
      0x30: () => this.#resume(id, payload),
      0x31: () => this.#send(0xb1, id),
      0x40: () => this.#send(0xc3, id, packed.str('a fake guest has no sshd')),
      0x43: () => void this.#ids.delete(id),
    };
    const call = calls[type];
    if (call === undefined) return this.#fail(id, 12, `the fake agent does not know ${type}`);
    if (type >= 0x10 && type < 0x20 && this.#guest.resumes === 0)
      return this.#fail(id, 14, 'RESUME comes first');
    call();
  }

  #greet(id: number, payload: Buffer): void {
    this.#ids.clear();
    this.#isGreeted = true;
    const uptime = Math.round(performance.now() - this.#guest.bootedAt);
    this.#send(
      0x81,
      id,
      payload.subarray(0, 16),
      packed.u32(1),
      packed.u64(uptime),
      packed.u32(this.#running.size),
    );
  }

  #resume(id: number, payload: Buffer): void {
    this.#guest.resumes += 1;
    const clock = Buffer.from(payload.subarray(0, 12));
    clock.writeBigInt64LE(clock.readBigInt64LE() + BigInt(this.#guest.clockOffSeconds));
    this.#send(0xb0, id, clock);
  }

  async #exec(id: number, read: PayloadReader): Promise<void> {
    const flags = read.u8();
    const limitMs = read.u32();
    const name = read.str();
    read.str();
    const argv = read.strings();
    const running: Running = { stop: new AbortController(), record: (flags & RECORD) === 0 ? null : name };
    const timer = limitMs === 0 ? undefined : setTimeout(() => running.stop.abort('time'), limitMs);
    this.#running.add(running);
    if (running.record !== null) this.#guest.records.set(name, { stdout: '', stderr: '', outcome: null });
    this.#send(0x90, id, packed.u32(1000 + this.#running.size));
    if ((flags & DETACHED) === 0) this.#ids.set(id, running);
    const started = performance.now();
    const line = argv.at(-2) === '-c' ? (argv.at(-1) ?? '') : argv.join(' ');
    const outcome = (await this.#shell({ line, argv, guest: this.#guest, signal: running.stop.signal })) ?? {
      exitCode: 127,
    };
    clearTimeout(timer);
    this.#running.delete(running);
    const { stdout = '', stderr = '' } = outcome;
    if (running.record !== null) this.#guest.records.set(name, { stdout, stderr, outcome });
    if (this.#ids.get(id) !== running) return;
    this.#sendChunks(0x91, id, Buffer.from(stdout));
    this.#sendChunks(0x92, id, Buffer.from(stderr));
    const { signal } = running.stop;
    this.#send(0x93, id, encodeOutcome(outcome, { signal, ms: performance.now() - started }));
    this.#ids.delete(id);
  }

  #sendChunks(type: number, id: number, bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += CHUNK) this.#send(type, id, bytes.subarray(at, at + CHUNK));
  }

  #stop(id: number): void {
    const running = this.#ids.get(id);
    if (running !== undefined && 'stop' in running) running.stop.abort();
  }

  #sendRecord(id: number, name: string): void {
    const record = this.#guest.records.get(name);
    const isRunning = [...this.#running].some((running) => running.record === name);
    const state = record === undefined ? 0 : record.outcome !== null ? 2 : isRunning ? 1 : 3;
    this.#send(0x94, id, packed.u8(state), encodeOutcome(record?.outcome ?? { exitCode: -1 }));
  }

  #stopRecord(id: number, name: string): void {
    for (const running of this.#running) if (running.record === name) running.stop.abort();
    setImmediate(() => this.#sendRecord(id, name));
  }

  #readFile(id: number, read: PayloadReader): void {
    read.u8();
    const path = read.str();
    const [offset, length] = [read.u64(), read.u64()];
    const content = this.#guest.files.get(path) ?? this.#recordedOutput(path);
    if (content === undefined) return this.#fail(id, 2, `${path}: no such file`);
    this.#send(0xa0, id, packed.u64(content.length));
    this.#sendChunks(0xa1, id, content.subarray(offset, offset + length));
    this.#send(0xa2, id);
  }

  /** Records lie where the real agent keeps them. */
  #recordedOutput(path: string): Buffer | undefined {
    const [, name = '', stream = ''] =
      /^\/var\/lib\/vitto\/commands\/([^/]+)\/(stdout|stderr)$/.exec(path) ?? [];
    const record = this.#guest.records.get(name);
    return record && Buffer.from(stream === 'stdout' ? record.stdout : record.stderr);
  }

  #writeFile(id: number, read: PayloadReader): void {
    read.u8();
    const path = read.str();
    read.u32();
    const [expect, expected] = [read.u8(), read.take(32).toString('hex')];
    const before = this.#guest.files.get(path);
    const isChanged =
      (expect === 2 && before !== undefined) ||
      (expect === 1 &&
        (before === undefined || createHash('sha256').update(before).digest('hex') !== expected));
    if (isChanged) return this.#fail(id, 9, `${path} has changed`);
    this.#ids.set(id, { path, size: read.u64(), parts: [] });
    this.#addContent(id, Buffer.alloc(0));
  }

  #addContent(id: number, bytes: Buffer): void {
    const writing = this.#ids.get(id);
    if (writing === undefined || !('parts' in writing)) return;
    writing.parts.push(Buffer.from(bytes));
    if (bytes.length > 0) this.#send(0x82, id, packed.u32(bytes.length));
    const content = Buffer.concat(writing.parts);
    if (content.length < writing.size) return;
    const isNew = !this.#guest.files.has(writing.path);
    this.#guest.files.set(writing.path, content);
    this.#ids.delete(id);
    this.#send(0xa3, id, packed.u8(isNew ? 1 : 0), packed.str(writing.path));
  }

  #list(id: number, folder: string): void {
    const below = [...this.#guest.files].filter(([path]) => path.startsWith(`${folder}/`));
    for (const [path, { length }] of below) {
      this.#send(0xa4, id, Buffer.from('f'), packed.u64(length), packed.str(path.slice(folder.length + 1)));
    }
    this.#send(0xa2, id);
  }
}

function encodeOutcome(outcome: FakeOutcome, how?: { signal: AbortSignal; ms: number }): Buffer {
  return Buffer.concat([
    packed.i32(how?.signal.aborted === true ? -1 : outcome.exitCode),
    packed.u32(how?.signal.aborted === true ? 15 : 0),
    packed.u8(how?.signal.reason === 'time' ? 1 : 0),
    packed.u8(0),
    packed.u32(0),
    packed.u64(Buffer.byteLength(outcome.stdout ?? '')),
    packed.u64(Buffer.byteLength(outcome.stderr ?? '')),
    packed.u32(Math.round(how?.ms ?? 0)),
  ]);
}
