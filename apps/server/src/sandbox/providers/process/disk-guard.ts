import { execFile } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { promisify } from 'node:util';
import { GuestError } from '@vitto/contracts';
import type { HostPrograms } from './host-programs.ts';
import { asSandboxUser } from './sandbox-user.ts';
import type { SandboxLimit, SandboxLimits } from './sandbox-limits.ts';
import type { SessionFiles } from './session-store.ts';

const run = promisify(execFile);
const MiB = 1024 * 1024;

/** Room that is never given away, whatever a session's own limit is. */
const HOST_RESERVE = 256 * MiB;
/** How much of the disk must have gone since the last measurement before the session is measured again. */
const STEP = { bytes: 32 * MiB, entries: 10_000 };
/** What a session that is full may still grow by, so that it can be tidied up. */
const SLACK = { bytes: 16 * MiB, entries: 2_000 };

/**
 * Bounds what a session keeps on disk without quotas, which need a file system that has them: free space is looked
 * at while commands run (one cheap call), and only when it shrinks the session is measured with `du`.
 */
export class DiskGuard {
  readonly #files: SessionFiles;
  readonly #programs: HostPrograms;
  readonly #limits: SandboxLimits;
  #used = { bytes: 0, entries: 0 };
  #free = { bytes: 0, entries: 0 };
  #isMeasured = false;
  #measuring: Promise<void> | null = null;

  constructor(files: SessionFiles, programs: HostPrograms, limits: SandboxLimits) {
    this.#files = files;
    this.#programs = programs;
    this.#limits = limits;
  }

  /** A function to be called several times a second while something runs. */
  async watch(): Promise<(stop: (limit: SandboxLimit) => void) => void> {
    if (!this.#isMeasured || this.#isFull()) await this.#measure();
    const allowed = {
      bytes: Math.max(this.#limits.diskBytes, this.#used.bytes + SLACK.bytes),
      entries: Math.max(this.#limits.diskEntries, this.#used.entries + SLACK.entries),
    };
    return (stop) => {
      const free = this.#readFree();
      if (free.bytes < HOST_RESERVE) return stop('disk');
      this.#raiseBaseline(free);
      if (!this.#hasShrunk(free) || this.#measuring !== null) return;
      void this.#measure().then(() => {
        if (this.#used.bytes > allowed.bytes || this.#used.entries > allowed.entries) stop('disk');
      });
    };
  }

  /** Makes room for a file of `bytes` in the account; throws `no-space` when it does not fit. */
  async reserve(bytes: number): Promise<void> {
    if (!this.#isMeasured || this.#isFull() || this.#hasShrunk(this.#readFree())) await this.#measure();
    const isFull =
      this.#used.bytes + bytes > this.#limits.diskBytes || this.#used.entries >= this.#limits.diskEntries;
    if (isFull || this.#readFree().bytes - bytes < HOST_RESERVE) {
      throw new GuestError(
        'no-space',
        'There is no room left for this file.',
        'Remove files that are no longer needed.',
      );
    }
    this.#used = { bytes: this.#used.bytes + bytes, entries: this.#used.entries + 1 };
  }

  /** From half of a limit on it is measured every time. */
  #isFull(): boolean {
    return this.#used.bytes > this.#limits.diskBytes / 2 || this.#used.entries > this.#limits.diskEntries / 2;
  }

  #hasShrunk(free: { bytes: number; entries: number }): boolean {
    return this.#free.bytes - free.bytes >= STEP.bytes || this.#free.entries - free.entries >= STEP.entries;
  }

  /** Space that others give back must not hide what the session takes. */
  #raiseBaseline(free: { bytes: number; entries: number }): void {
    this.#free = {
      bytes: Math.max(this.#free.bytes, free.bytes),
      entries: Math.max(this.#free.entries, free.entries),
    };
  }

  #measure(): Promise<void> {
    this.#measuring ??= this.#runDu().finally(() => (this.#measuring = null));
    return this.#measuring;
  }

  async #runDu(): Promise<void> {
    const free = this.#readFree();
    const [bytes, entries] = await Promise.all([this.#du('--block-size=1'), this.#du('--inodes')]);
    this.#used = { bytes, entries };
    this.#free = free;
    this.#isMeasured = true;
  }

  async #du(unit: string): Promise<number> {
    const { home, tmp, user } = this.#files;
    const [file = '', ...args] = [
      ...asSandboxUser(this.#programs, user),
      this.#programs.du,
      '-s',
      '-x',
      '-c',
      unit,
      '--',
      home,
      tmp,
    ];
    // A folder without read permission makes `du` complain; what it counts is still said.
    const { stdout } = await run(file, args, { env: {}, cwd: '/' }).catch((error: { stdout?: string }) => ({
      stdout: error.stdout ?? '',
    }));
    return Number(/^(\d+)\ttotal$/m.exec(stdout)?.[1] ?? 0);
  }

  #readFree(): { bytes: number; entries: number } {
    try {
      const { bavail, bsize, ffree } = statfsSync(this.#files.home);
      return { bytes: bavail * bsize, entries: ffree };
    } catch {
      // Removed meanwhile: nothing can be written there any more.
      return { bytes: Number.MAX_SAFE_INTEGER, entries: Number.MAX_SAFE_INTEGER };
    }
  }
}
