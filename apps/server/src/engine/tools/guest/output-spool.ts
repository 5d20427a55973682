import type { ArtifactRef } from '@vitto/contracts';
import type { ArtifactAccess, ArtifactWriter } from '../tool.ts';

/** Output up to here is in the result itself; only what is longer is kept as an artifact. */
const INLINE_BYTES = 1024 * 1024;

/**
 * Keeps the whole output of a command as an artifact once it grows long, written while the command runs. A failure
 * to keep it (a full disk) is remembered, not thrown: the command's result is worth more than its last megabyte.
 */
export class OutputSpool {
  readonly #artifacts: ArtifactAccess;
  readonly #name: string;
  #early: Uint8Array[] = [];
  #total = 0;
  #writer: ArtifactWriter | null = null;
  #failure: string | null = null;

  constructor(artifacts: ArtifactAccess, name: string) {
    this.#artifacts = artifacts;
    this.#name = name;
  }

  /** Why the rest was not kept. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Resolves when the bytes are taken: that is the back-pressure on the command. Never rejects. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== null) return;
    this.#total += bytes.length;
    try {
      if (this.#writer === null && this.#total <= INLINE_BYTES) {
        this.#early.push(Uint8Array.from(bytes));
        return;
      }
      this.#writer ??= await this.#open();
      await this.#writer.write(bytes);
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** The artifact, or `null` when the output was short or could not be kept. */
  async finish(): Promise<(ArtifactRef & { truncated: boolean }) | null> {
    if (this.#writer === null || this.#failure !== null) return null;
    try {
      return await this.#writer.finish();
    } catch (error) {
      await this.#fail(error);
      return null;
    }
  }

  /** Leaves nothing behind. */
  async abort(): Promise<void> {
    await this.#writer?.abort().catch(() => undefined);
  }

  async #open(): Promise<ArtifactWriter> {
    const writer = await this.#artifacts.open(this.#name, 'text/plain; charset=utf-8');
    this.#writer = writer;
    const early = this.#early;
    this.#early = [];
    for (const bytes of early) await writer.write(bytes);
    return writer;
  }

  async #fail(error: unknown): Promise<void> {
    this.#failure = error instanceof Error ? error.message : String(error);
    this.#early = [];
    await this.abort();
  }
}
