import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What a part of a bench that runs in a process of its own can be asked. Inputs and outputs travel as JSON. */
export type Calls = Record<string, (input: never) => Promise<unknown>>;
type Input<C extends Calls, M extends keyof C> = Parameters<C[M]>[0];
type Output<C extends Calls, M extends keyof C> = Awaited<ReturnType<C[M]>>;

interface Request {
  id: number;
  method: string;
  input: unknown;
}
type Answer = { id: number; output: unknown } | { id: number; error: string };

/** The child's side: answers calls until the parent lets go, and ends then. */
export function serveCalls(calls: Calls): void {
  process.on('message', (request: Request) => {
    const call = calls[request.method] as ((input: unknown) => Promise<unknown>) | undefined;
    const answer = (message: Answer) => process.send?.(message);
    Promise.resolve()
      .then(() => call?.(request.input))
      .then((output) => answer({ id: request.id, output: output ?? null }))
      .catch((error: unknown) =>
        answer({ id: request.id, error: error instanceof Error ? (error.stack ?? error.message) : 'failed' }),
      );
  });
  process.once('disconnect', () => process.exit(0));
}

/** A process of ours that answers calls. */
export class ChildCalls<C extends Calls> {
  readonly #file: string;
  readonly #child: ChildProcess;
  readonly #open = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #lastId = 0;

  /** @param file an entry file in this folder, which calls `serveCalls`. */
  constructor(file: string) {
    this.#file = file;
    this.#child = fork(join(import.meta.dirname, file), { execArgv: ['--no-warnings'] });
    this.#child.on('message', (answer: Answer) => {
      const call = this.#open.get(answer.id);
      this.#open.delete(answer.id);
      if ('error' in answer) call?.reject(new Error(`${file}: ${answer.error}`));
      else call?.resolve(answer.output as never);
    });
    this.#child.on('exit', (code, signal) => {
      for (const call of this.#open.values())
        call.reject(new Error(`${file} ended (${signal ?? code ?? 'unknown'})`));
      this.#open.clear();
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** @throws what the child threw, or that it ended. */
  call<M extends keyof C & string>(method: M, input: Input<C, M>): Promise<Output<C, M>> {
    if (!this.#child.connected) return Promise.reject(new Error(`${this.#file} does not run any more`));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise<Output<C, M>>((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      this.#child.send({ id, method, input } satisfies Request);
    });
  }

  /** Ends the child; it has nothing to lose. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
    await exited;
    clearTimeout(timer);
  }
}
