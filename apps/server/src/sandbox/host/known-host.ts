import type { SandboxHostInfo } from '@vitto/contracts';
import { describeError } from '../../kernel/app-error.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { SandboxHost } from './sandbox-host.ts';

/** A host is asked again after this, in milliseconds; one that did not answer is left alone for longer. */
const FRESH_MS = 1_000;
const AWAY_MS = 5_000;
/** The longest that a look at a host takes, in milliseconds. */
export const LOOK_MS = 4_000;

/** A host with what it said last. One that does not answer is passed over for a moment, then asked again. */
export class KnownHost {
  readonly host: SandboxHost;
  readonly #logger: Logger;
  readonly #now: () => number;
  #info: SandboxHostInfo | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #problem: string | null = null;
  #asking: Promise<SandboxHostInfo> | null = null;

  constructor(host: SandboxHost, logger: Logger, now: () => number = () => performance.now()) {
    this.host = host;
    this.#logger = logger;
    this.#now = now;
  }

  /** What it says of itself, or that it cannot be reached and why. Never rejects, and never takes long. */
  async look(): Promise<SandboxHostInfo> {
    const age = this.#now() - this.#askedAt;
    if (this.#problem !== null && age < AWAY_MS) return this.#describe();
    if (this.#info !== null && this.#problem === null && age < FRESH_MS) return this.#info;
    this.#asking ??= this.#ask().finally(() => (this.#asking = null));
    return this.#asking;
  }

  /** A call has found that it does not answer. */
  noteAway(why: string): void {
    if (this.#problem === null) {
      this.#logger.warn(
        { host: this.host.url, reason: why },
        'a sandbox host does not answer; it is passed over',
      );
    }
    this.#problem = why;
    this.#askedAt = this.#now();
  }

  async #ask(): Promise<SandboxHostInfo> {
    try {
      const info = await within(LOOK_MS, this.host.info());
      if (this.#problem !== null) this.#logger.warn({ host: this.host.url }, 'a sandbox host answers again');
      this.#info = info;
      this.#problem = null;
      this.#askedAt = this.#now();
    } catch (error) {
      this.noteAway(describeError(error));
    }
    return this.#describe();
  }

  #describe(): SandboxHostInfo {
    const { url } = this.host;
    if (this.#problem === null && this.#info !== null) return this.#info;
    return {
      id: this.#info?.id ?? url ?? 'local',
      name: this.#info?.name ?? (url === null ? 'this machine' : new URL(url).host),
      url,
      isReachable: false,
      provider: this.#info?.provider ?? 'qemu',
      accelerator: null,
      version: this.#info?.version ?? null,
      reason: this.#problem,
      hint: 'It is asked again all the time. See docs/runbooks/sandbox-host.md for what to look at.',
      running: 0,
      waiting: 0,
      maxConcurrent: 0,
      memory: null,
      images: this.#info?.images ?? [],
    };
  }
}

/** Settles as the work does, or rejects after `ms`; the work is left to itself then. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms / 1_000} s`)), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
