import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { FINAL_TEXT } from './instant-model.ts';
import type { SubjectInfo, SubjectLine } from './subject-protocol.ts';

/** How one run went, a step. */
export interface StepCost {
  ms: number;
  cpuMs: number;
  statements: number | null;
}

/** The first run compiles and connects; nothing takes longer than this. */
const RUN_LIMIT_MS = 300_000;

/** A measured loop in a process of its own. It does nothing between its runs. */
export class SubjectProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;
  #errors = '';
  #info: SubjectInfo | null = null;

  constructor(command: readonly string[], environment: Record<string, string>) {
    this.#child = spawn(process.execPath, ['--no-warnings', ...command], {
      cwd: import.meta.dirname,
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-4_000);
    });
    // A child that ends at once shows by its missing line.
    this.#child.stdin?.on('error', () => undefined);
    this.#reader = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** @throws when the child ended before it was ready, with what it said. */
  async start(): Promise<SubjectInfo> {
    const line = await this.#next();
    if (line.type !== 'ready') throw new Error(`expected "ready", got ${JSON.stringify(line)}`);
    this.#info = line.info;
    return line.info;
  }

  /** One run; throws when it did not do all its work. */
  async run(steps: number): Promise<StepCost> {
    this.#child.stdin?.write(`${JSON.stringify({ steps })}\n`);
    const line = await this.#next();
    if (line.type !== 'run') throw new Error(`expected "run", got ${JSON.stringify(line)}`);
    const { toolCalls, text, statements } = line.outcome;
    if (toolCalls !== steps || text !== FINAL_TEXT) {
      throw new Error(`${this.#info?.name}: ${toolCalls} tool calls of ${steps}, final text "${text}"`);
    }
    return {
      ms: line.ms / steps,
      cpuMs: line.cpuMs / steps,
      statements: statements === undefined ? null : statements / steps,
    };
  }

  /** Lets the child close its connections and ends it. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await exited;
    clearTimeout(timer);
    this.#reader.close();
  }

  async #next(): Promise<SubjectLine> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${RUN_LIMIT_MS / 1000} s`)), RUN_LIMIT_MS);
    });
    try {
      const next = await Promise.race([this.#lines.next(), late]);
      if (next.done === true) throw new Error(`the process ended\n${this.#errors}`);
      const line = JSON.parse(next.value) as SubjectLine;
      if (line.type === 'failed') throw new Error(line.message);
      return line;
    } finally {
      clearTimeout(timer);
    }
  }
}
