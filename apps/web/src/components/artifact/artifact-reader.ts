import type { ArtifactRef } from '@vitto/contracts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import { readArtifactBytes } from '../../api/read-artifact.ts';
import { LineSplitter, type TextLine } from './split-lines.ts';

export interface ReaderState {
  readonly lines: readonly TextLine[];
  readonly readBytes: number;
  readonly isWhole: boolean;
  readonly isReading: boolean;
  readonly error: ApiError | null;
}

/** Bytes that are asked for at once. */
const PART_BYTES = 256 * 1024;

/** The text of an artifact, a part at a time as somebody reads on; never more than what was read. */
export class ArtifactReader {
  readonly #client: ApiClient;
  readonly #artifact: ArtifactRef;
  readonly #decoder = new TextDecoder();
  readonly #splitter = new LineSplitter();
  readonly #listeners = new Set<() => void>();
  #state: ReaderState;

  constructor(client: ApiClient, artifact: ArtifactRef) {
    this.#client = client;
    this.#artifact = artifact;
    this.#state = { lines: [], readBytes: 0, isWhole: artifact.bytes === 0, isReading: false, error: null };
  }

  readonly getState = (): ReaderState => this.#state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Reads the next part; nothing when all is here, or one is on its way. */
  readonly readOn = (): void => {
    if (!this.#state.isWhole && !this.#state.isReading) void this.#readPart();
  };

  async #readPart(): Promise<void> {
    this.#change({ isReading: true, error: null });
    const { id, bytes } = this.#artifact;
    const start = this.#state.readBytes;
    try {
      const part = await readArtifactBytes(this.#client, id, {
        start,
        end: Math.min(bytes, start + PART_BYTES),
      });
      const readBytes = start + part.length;
      const isWhole = readBytes >= bytes || part.length === 0;
      this.#splitter.add(this.#decoder.decode(part, { stream: !isWhole }));
      if (isWhole) this.#splitter.end();
      this.#change({ lines: [...this.#splitter.lines], readBytes, isWhole, isReading: false });
    } catch (failure) {
      this.#change({ isReading: false, error: toApiError(failure) });
    }
  }

  #change(part: Partial<ReaderState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }
}
