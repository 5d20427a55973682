import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { homedir } from 'node:os';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { cutTextEnd } from '../../kernel/text/cut.ts';
import { LineReader } from './line-reader.ts';
import type { StartedPrograms } from './started-programs.ts';

export interface ProcessOptions {
  command: string;
  args: string[];
  /** Beside the least that programs need (PATH, HOME, …); nothing else of this process is passed on. */
  env: Record<string, string>;
  /** A line on stdout that is no message. */
  onNoise: (line: string) => void;
  /** Where it is noted, so that it does not outlive a Vitto that is killed. */
  programs: Pick<StartedPrograms, 'note'>;
}

/** What is kept of stderr, in UTF-16 units. */
const STDERR_LENGTH = 2_000;
/** Milliseconds for a program to end by itself once its input ends, then after TERM. */
const GRACE_MS = 1_000;
/** Milliseconds for the last output to arrive after a program has ended. */
const LAST_OUTPUT_MS = 500;

/**
 * A server that runs as a program of its own process group and talks over stdin and stdout. Differs from the
 * transport of the SDK in this: lines that are no message are told, the whole group ends with it, and its end is
 * seen at once, also when something that it started holds its pipes.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: ProcessOptions;
  readonly #lines = new LineReader();
  #child: ChildProcessWithoutNullStreams | null = null;
  #stderr = '';
  #end: string | null = null;
  #forget: () => void = () => undefined;
  #closed = Promise.withResolvers<void>();

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  /** How the program ended and what it wrote to stderr last; `null` while it runs and has written nothing. */
  get story(): string | null {
    const stderr = this.#stderr.trim();
    const parts = [this.#end, stderr === '' ? null : `It last wrote to stderr: ${stderr}`];
    return parts.some((part) => part !== null) ? parts.filter((part) => part !== null).join(' ') : null;
  }
  get hasEnded(): boolean {
    return this.#end !== null;
  }
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }
  /** By this and `pid` the SDK tells a program from a server on the network. What was written to it is in `story`. */
  get stderr(): null {
    return null;
  }

  async start(): Promise<void> {
    const { command, args, env } = this.#options;
    const child = spawn(command, args, {
      env: { ...getDefaultEnvironment(), ...env },
      cwd: homedir(),
      stdio: 'pipe',
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    child.stdout.on('data', (piece: Buffer) => this.#read(piece));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = cutTextEnd(this.#stderr + text, STDERR_LENGTH);
    });
    // Its end tells more than the pipe that breaks with it.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined);
    child.once('exit', (code, signal) => this.#ended(code, signal));
    child.once('close', () => this.#finish());
    this.#note(child.pid);
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        this.#end ??= `It could not be started: ${error.message}.`;
        this.#finish();
        reject(error);
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.#end !== null || !stdin.writable) {
      return Promise.reject(new Error('the program does not run'));
    }
    return new Promise((resolve) => {
      if (stdin.write(serializeMessage(message))) resolve();
      else {
        const done = () => resolve();
        stdin.once('drain', done).once('close', done);
      }
    });
  }

  /** Ends the program and everything that it started. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === null || this.#end !== null) return this.#finish();
    child.stdin.end();
    if (!(await this.#endsWithin(GRACE_MS))) this.#signal('SIGTERM');
    if (!(await this.#endsWithin(GRACE_MS))) this.#signal('SIGKILL');
    await this.#closed.promise;
  }

  /** In the same breath as the start. One that cannot be noted (a full disk) must not run. */
  #note(pid: number | undefined): void {
    if (pid === undefined) return;
    try {
      this.#forget = this.#options.programs.note(pid);
    } catch (error) {
      this.#signal('SIGKILL');
      throw error;
    }
  }

  #read(piece: Buffer): void {
    let lines: string[];
    try {
      lines = this.#lines.push(piece);
    } catch (error) {
      this.onerror?.(error as Error);
      this.#signal('SIGKILL');
      return;
    }
    for (const line of lines) {
      let message: JSONRPCMessage;
      try {
        message = deserializeMessage(line);
      } catch {
        if (line.trim() !== '') this.#options.onNoise(line);
        continue;
      }
      this.onmessage?.(message);
    }
  }

  #ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.#end ??= code === null ? `It was ended by ${signal}.` : `It ended with exit code ${code}.`;
    // What it started goes with it, and lets go of its pipes.
    this.#signal('SIGKILL');
    this.#forget();
    setTimeout(() => this.#finish(), LAST_OUTPUT_MS).unref();
  }

  #finish(): void {
    if (this.#child === null) return;
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    this.#child = null;
    this.#closed.resolve();
    this.onclose?.();
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nothing of the group is left.
    }
  }

  async #endsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const isClosed = await Promise.race([this.#closed.promise.then(() => true), late]);
    clearTimeout(timer);
    return isClosed;
  }
}
