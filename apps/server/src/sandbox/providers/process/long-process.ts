import { constants } from 'node:os';
import type { ProcessOutput } from '@vitto/contracts';
import { PROCESS_READ_BYTES, processText } from '../../guest/process-text.ts';
import { signalName } from '../../guest/signal-names.ts';
import { endSandbox } from './exec-command.ts';
import type { RunningSandbox, SandboxEnd } from './running-sandbox.ts';

const KEPT_BYTES = 1024 * 1024;

/** A process that runs on between calls, with the last megabyte of its output. */
export class LongProcess {
  readonly id: string;
  readonly #sandbox: RunningSandbox;
  #chunks: Buffer[] = [];
  /** Offsets, in bytes, of what is kept. */
  #from = 0;
  #to = 0;
  #end: SandboxEnd | null = null;

  constructor(id: string, sandbox: RunningSandbox) {
    this.id = id;
    this.#sandbox = sandbox;
    for (const stream of [sandbox.stdout, sandbox.stderr]) {
      stream.on('error', () => undefined);
      stream.on('data', (chunk: Buffer) => this.#keep(chunk));
    }
    void sandbox.ended.then((end) => (this.#end = end));
  }

  get isRunning(): boolean {
    return this.#end === null;
  }

  /** Output from `offset` on. */
  read(offset = 0): ProcessOutput {
    const start = Math.min(Math.max(offset, this.#from), this.#to);
    const kept = Buffer.concat(this.#chunks);
    const available = kept.subarray(start - this.#from, start - this.#from + PROCESS_READ_BYTES);
    const isLast = this.#end !== null && start + available.length === this.#to;
    const status = this.#end?.status ?? null;
    return {
      processId: this.id,
      running: this.#end === null,
      exitCode: status?.signal === 0 ? status.exit : null,
      signal:
        this.#end === null || status?.signal === 0
          ? null
          : signalName(status?.signal ?? constants.signals.SIGKILL),
      ...processText(available, { asked: offset, start, isLast }),
    };
  }

  async stop(): Promise<void> {
    await endSandbox(this.#sandbox, 1800);
  }

  #keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#to += chunk.length;
    while (this.#to - this.#from - (this.#chunks[0]?.length ?? 0) >= KEPT_BYTES) {
      this.#from += this.#chunks.shift()?.length ?? 0;
    }
  }
}
