import { spawn, execFileSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as f from './frames.ts';

const SANITIZERS = '-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g';

/** The program with sanitizers: what they find ends it with a message on stderr, which `stop` throws. */
export function buildGuest(folder: string): void {
  execFileSync('sh', [join(import.meta.dirname, '../build.sh'), folder], {
    env: { ...process.env, STATIC: '', CFLAGS_EXTRA: SANITIZERS },
    stdio: 'pipe',
  });
}

/** An agent on this host, with folders of its own. */
export class GuestAgent {
  readonly folder: string;
  readonly home: string;
  readonly #bin: string;
  #process: ChildProcess | null = null;
  #complaints = '';

  private constructor(folder: string, bin: string) {
    this.folder = folder;
    this.#bin = bin;
    this.home = join(folder, 'home');
  }

  /** `proxyPort` 0: no listener for the proxy. */
  static async start(bin: string, proxyPort = 0): Promise<GuestAgent> {
    const agent = new GuestAgent(await mkdtemp(join(tmpdir(), 'vitto-agent-test-')), bin);
    await mkdir(join(agent.folder, 'etc/ssh'), { recursive: true });
    await mkdir(agent.home);
    await agent.launch(proxyPort);
    return agent;
  }

  async launch(proxyPort = 0): Promise<void> {
    const at = (name: string) => join(this.folder, name);
    await rm(at('socket'), { force: true });
    const where = ['--socket', at('socket'), '--root-dir', this.folder, '--home', this.home];
    const more = ['--records', at('records'), '--run-dir', at('run'), '--proxy-port', String(proxyPort)];
    // Nobody of that name: commands run as whoever runs the tests.
    this.#process = spawn(join(this.#bin, 'vitto-agent'), [
      ...where,
      ...more,
      '--user',
      'nobody-of-this-name',
    ]);
    this.#process.stderr?.on('data', (bytes: Buffer) => (this.#complaints += bytes.toString()));
    while (!existsSync(at('socket'))) {
      if (this.#process.exitCode !== null) throw new Error(this.#complaints);
      await pause(5);
    }
  }

  get isRunning(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null;
  }

  async connect(): Promise<AgentChannel> {
    return await AgentChannel.open(join(this.folder, 'socket'));
  }

  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.#process?.once('exit', resolve));
    this.#process?.kill('SIGKILL');
    await ended;
  }

  /** Ends it and removes its folders. @throws Error with what a sanitizer found */
  async stop(): Promise<void> {
    const hasDied = !this.isRunning;
    if (!hasDied) await this.kill();
    await rm(this.folder, { recursive: true, force: true });
    if (hasDied || /runtime error|Sanitizer/.test(this.#complaints)) throw new Error(this.#complaints);
  }
}

/** One host's connection: frames out, frames in, in order. */
export class AgentChannel {
  readonly socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #isSynced = false;
  #isClosed = false;
  readonly #frames: f.Frame[] = [];
  #waiters: (() => void)[] = [];
  #nextId = 100;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes) => {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      if (this.#isSynced) this.#take();
      this.#wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  static async open(path: string): Promise<AgentChannel> {
    const socket = connect(path);
    await new Promise((resolve, reject) => socket.once('connect', () => resolve(null)).once('error', reject));
    return new AgentChannel(socket);
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  #take(): void {
    const { frames, rest } = f.takeFrames(this.#rest);
    this.#rest = rest;
    this.#frames.push(...frames);
  }

  /** @throws Error when the agent has gone: nothing more comes */
  async #wait(): Promise<void> {
    if (this.#isClosed) throw new Error('The agent has closed the connection.');
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  newId(): number {
    return ++this.#nextId;
  }

  send(type: number, id: number, payload?: Uint8Array): void {
    this.socket.write(f.frame(type, id, payload));
  }

  /** Zeros, HELLO, and READY with this nonce, wherever in the bytes it begins. Gives the count of running commands. */
  async hello(): Promise<{ version: number; running: number }> {
    const nonce = randomBytes(16);
    this.#isSynced = false;
    this.#frames.length = 0;
    this.socket.write(Buffer.alloc(65_600));
    this.send(f.TO_GUEST.hello, 0, Buffer.concat([nonce, f.u32(1)]));
    for (;;) {
      const at = this.#rest.indexOf(nonce) - 10;
      if (at >= 0 && this.#rest.length >= at + 43) {
        const payload = this.#rest.subarray(at + 10, at + 42);
        this.#rest = this.#rest.subarray(at + 43);
        this.#isSynced = true;
        this.#take();
        return { version: payload.readUInt32LE(16), running: payload.readUInt32LE(28) };
      }
      await this.#wait();
    }
  }

  /** The next frame of `id` (any, without one); others wait for their turn. */
  async next(id?: number): Promise<f.Frame> {
    for (;;) {
      const at = this.#frames.findIndex((frame) => id === undefined || frame.id === id);
      if (at >= 0) return this.#frames.splice(at, 1)[0] as f.Frame;
      await this.#wait();
    }
  }

  async nextOf(type: number): Promise<f.Frame> {
    for (;;) {
      const at = this.#frames.findIndex((frame) => frame.type === type);
      if (at >= 0) return this.#frames.splice(at, 1)[0] as f.Frame;
      await this.#wait();
    }
  }

  /** Frames of `id` that are here already. */
  waiting(id: number): f.Frame[] {
    return this.#frames.filter((frame) => frame.id === id);
  }

  /** A call with one answer. */
  async call(type: number, payload?: Uint8Array): Promise<f.Frame> {
    const id = this.newId();
    this.send(type, id, payload);
    return await this.next(id);
  }

  async run(argv: string[], options: f.ExecOptions & { stdin?: Buffer } = {}): Promise<RunResult> {
    const id = this.newId();
    const flags = (options.flags ?? 0) | (options.stdin ? f.FLAG.stdin : 0);
    this.send(f.TO_GUEST.exec, id, f.execPayload(argv, { ...options, flags }));
    if (options.stdin) {
      if (options.stdin.length > 0) this.send(f.TO_GUEST.stdin, id, options.stdin);
      this.send(f.TO_GUEST.stdin, id);
    }
    return await this.finish(id);
  }

  /** Reads a command of `id` to its end, giving credit. */
  async finish(id: number): Promise<RunResult> {
    const parts: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
    for (;;) {
      const { type, payload } = await this.next(id);
      if (type === f.TO_HOST.stdout) parts.stdout.push(payload);
      if (type === f.TO_HOST.stderr) parts.stderr.push(payload);
      if (type === f.TO_HOST.stdout || type === f.TO_HOST.stderr) {
        this.send(f.TO_GUEST.credit, id, f.u32(payload.length));
      }
      const done = { stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr) };
      if (type === f.TO_HOST.fail) return { ...done, failed: payload.readUInt16LE(0), outcome: null };
      if (type === f.TO_HOST.exited) return { ...done, failed: 0, outcome: f.outcomeOf(payload) };
    }
  }

  /** The code that it fails with, 0 when it is written. */
  async write(
    path: string | Uint8Array,
    content: Uint8Array,
    options: { mode?: number; expect?: number; sha256?: Uint8Array } = {},
  ): Promise<number> {
    const id = this.newId();
    const expectation = Buffer.concat([
      Buffer.from([options.expect ?? 0]),
      options.sha256 ?? Buffer.alloc(32),
      f.u64(content.length),
    ]);
    const head = [Buffer.from([0]), f.str(path), f.u32(options.mode ?? 0xffffffff), expectation];
    this.send(f.TO_GUEST.write, id, Buffer.concat(head));
    let credit = 262_144;
    for (let at = 0; at < content.length;) {
      const part = content.subarray(at, at + Math.min(65_536, credit));
      if (part.length > 0) this.send(f.TO_GUEST.content, id, part);
      at += part.length;
      credit -= part.length;
      if (credit > 0) continue;
      const { type, payload } = await this.next(id);
      if (type === f.TO_HOST.fail) return payload.readUInt16LE(0);
      credit += payload.readUInt32LE(0);
    }
    for (;;) {
      const { type, payload } = await this.next(id);
      if (type === f.TO_HOST.fail) return payload.readUInt16LE(0);
      if (type === f.TO_HOST.written) return 0;
    }
  }

  /** Everything of a READ or LIST, or the code that it fails with. */
  async #collect(id: number, type: number): Promise<Buffer | number> {
    const parts: Buffer[] = [];
    for (;;) {
      const next = await this.next(id);
      if (next.type === f.TO_HOST.fail) return next.payload.readUInt16LE(0);
      if (next.type === f.TO_HOST.end) return Buffer.concat(parts);
      if (next.type !== type) continue;
      parts.push(next.payload);
      this.send(f.TO_GUEST.credit, id, f.u32(next.payload.length));
    }
  }

  async read(path: string | Uint8Array, offset = 0, length = 2 ** 40): Promise<Buffer | number> {
    const id = this.newId();
    this.send(
      f.TO_GUEST.read,
      id,
      Buffer.concat([Buffer.from([0]), f.str(path), f.u64(offset), f.u64(length)]),
    );
    return await this.#collect(id, f.TO_HOST.data);
  }

  /** Paths as latin1, one character a byte, with their types; or the code. */
  async list(path: string, depth: number): Promise<Map<string, string> | number> {
    const id = this.newId();
    this.send(f.TO_GUEST.list, id, Buffer.concat([f.str(path), f.u32(depth)]));
    const bytes = await this.#collect(id, f.TO_HOST.entries);
    if (typeof bytes === 'number') return bytes;
    const entries = new Map<string, string>();
    for (let at = 0; at < bytes.length;) {
      const size = bytes.readUInt32LE(at + 9);
      entries.set(
        bytes.toString('latin1', at + 13, at + 13 + size),
        String.fromCharCode(bytes.readUInt8(at)),
      );
      at += 13 + size;
    }
    return entries;
  }

  async recordState(name: string): Promise<{ state: number; outcome: f.Outcome }> {
    const { payload } = await this.call(f.TO_GUEST.record, f.str(name));
    return { state: payload.readUInt8(0), outcome: f.outcomeOf(payload.subarray(1)) };
  }

  close(): void {
    this.socket.destroy();
  }
}

export interface RunResult {
  stdout: Buffer;
  stderr: Buffer;
  /** The code of FAIL; 0 when it ran. */
  failed: number;
  outcome: f.Outcome | null;
}
