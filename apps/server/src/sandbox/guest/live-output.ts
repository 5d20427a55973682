import { StringDecoder } from 'node:string_decoder';

type Stream = 'stdout' | 'stderr';

/** Hands decoded output on at most every `intervalMs`, in the order in which it came. */
export class LiveOutput {
  readonly #deliver: (stream: Stream, text: string) => void;
  readonly #intervalMs: number;
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  #waiting: { stream: Stream; text: string }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (stream: Stream, text: string) => void, intervalMs = 200) {
    this.#deliver = deliver;
    this.#intervalMs = intervalMs;
  }

  push(stream: Stream, bytes: Buffer): void {
    this.#add(stream, this.#decoders[stream].write(bytes));
    this.#timer ??= setTimeout(() => this.#flush(), this.#intervalMs);
  }

  /** Hands on what is left. Nothing is delivered after it. */
  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) this.#add(stream, this.#decoders[stream].end());
    this.#flush();
  }

  #add(stream: Stream, text: string): void {
    if (text === '') return;
    const last = this.#waiting.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.#waiting.push({ stream, text });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const ready = this.#waiting;
    this.#waiting = [];
    for (const { stream, text } of ready) this.#deliver(stream, text);
  }
}
