import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { FD, launchCommand, type Launch } from './launch.ts';
import type { ResourceGroup } from './resources/resource-group.ts';
import type { SandboxLimit } from './sandbox-limits.ts';
import type { SessionNetwork } from './session-network.ts';

/** How often limits are looked at. */
const WATCH_MS = 100;

export interface SandboxStart extends Launch {
  network: SessionNetwork;
  filter: string;
  group: ResourceGroup;
  /** A descriptor to read from, closed by the caller; `pipe`: the caller writes. */
  stdin: number | 'pipe' | 'ignore';
  /** Called about ten times a second with what stops the sandbox when a limit is passed. */
  onWatch: (stop: (limit: SandboxLimit) => void) => void;
}

/** How a sandbox ended. */
export interface SandboxEnd {
  /** The supervisor's last word; `null` when it was killed before it could say one, or there was no supervisor. */
  status: { exit: number; signal: number; leftovers: number } | null;
  /** False when the supervisor never began, so that nothing of the command ran. */
  hasStarted: boolean;
  isCwdMissing: boolean;
  /** bwrap's own exit code. */
  exitCode: number | null;
  limit: SandboxLimit | null;
}

/** One bubblewrap sandbox that runs. Whoever starts it reads `stdout` and `stderr` to their ends. */
export class RunningSandbox {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly stdin: Writable | null;
  /** Resolves, never rejects, when every process of it is gone and its control groups are removed. */
  readonly ended: Promise<SandboxEnd>;
  readonly #child: ChildProcess;
  readonly #group: ResourceGroup;
  readonly #hasCpuLimit: boolean;
  readonly #cpuMs: number;
  readonly #onWatch: SandboxStart['onWatch'];
  #firstPid: number | undefined;
  #hasExited = false;
  #isKilled = false;
  #limit: SandboxLimit | null = null;
  #status = '';
  #onStarted: () => void = () => undefined;

  constructor(start: SandboxStart) {
    const [file = '', ...args] = launchCommand(start);
    const filterFd = openSync(start.filter, 'r');
    try {
      this.#child = spawn(file, args, {
        stdio: [
          start.stdin,
          'pipe',
          'pipe',
          start.network.userFd,
          start.network.networkFd,
          filterFd,
          'pipe',
          'pipe',
        ],
        env: {},
        cwd: '/',
      });
    } finally {
      closeSync(filterFd);
    }
    this.stdin = this.#child.stdin;
    this.stdout = this.#child.stdout as Readable;
    this.stderr = this.#child.stderr as Readable;
    this.#group = start.group;
    this.#hasCpuLimit = start.hasCpuLimit;
    this.#cpuMs = start.limits.cpuMs;
    this.#onWatch = start.onWatch;
    const pipes: readonly unknown[] = this.#child.stdio;
    this.#readInfo(pipes[FD.info] as Readable);
    this.ended = this.#waitForEnd(pipes[FD.status] as Readable);
  }

  get limit(): SandboxLimit | null {
    return this.#limit;
  }

  /** The main process as numbered inside the sandbox, once it runs. */
  get mainPid(): number | null {
    return Number(/"started":(\d+)/.exec(this.#status)?.[1] ?? 0) || null;
  }

  /** Resolves once the command runs, or with false when it ended without having run. */
  async hasStarted(): Promise<boolean> {
    const begun = new Promise<boolean>((resolve) => {
      this.#onStarted = () => resolve(true);
    });
    if (this.mainPid !== null) return true;
    return Promise.race([begun, this.ended.then((end) => end.hasStarted)]);
  }

  /** Asks every process inside to end (TERM). */
  terminate(): void {
    this.#signal('SIGTERM');
  }

  /** Ends every process inside at once; `limit` says why when it was for a limit. */
  kill(limit: SandboxLimit | null = null): void {
    this.#limit ??= limit;
    this.#isKilled = true;
    // The first process, not bwrap: with it its whole PID namespace ends, and bwrap then reaps it.
    if (this.#firstPid !== undefined) this.#signal('SIGKILL');
    else if (!this.#hasExited) this.#child.kill('SIGKILL');
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    // bwrap is the parent that waits for the first process, so the number cannot be another's while bwrap lives.
    if (this.#firstPid === undefined || this.#hasExited) return;
    try {
      process.kill(this.#firstPid, signal);
    } catch {
      // Ended meanwhile.
    }
  }

  #readInfo(stream: Readable): void {
    let text = '';
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const pid = /"child-pid":\s*(\d+)\D/.exec(text)?.[1];
      if (pid === undefined || this.#firstPid !== undefined) return;
      this.#firstPid = Number(pid);
      this.#group.attach(this.#firstPid);
      if (this.#isKilled) this.#signal('SIGKILL');
    });
  }

  async #waitForEnd(status: Readable): Promise<SandboxEnd> {
    status.on('error', () => undefined);
    status.on('data', (chunk: Buffer) => {
      // Bounded: a process inside could open the supervisor's descriptor and write to it.
      if (this.#status.length < 4096) this.#status += chunk.toString('latin1');
      if (this.mainPid !== null) this.#onStarted();
    });
    const watch = setInterval(() => this.#watch(), WATCH_MS);
    const exitCode = await once(this.#child, 'exit').then(
      ([code]: (number | null)[]) => code ?? null,
      () => null,
    );
    this.#hasExited = true;
    clearInterval(watch);
    this.#watch();
    await this.#untilGone();
    if (!status.closed && !status.readableEnded) await Promise.race([once(status, 'close'), sleep(1000)]);
    await this.#group.remove();
    return { exitCode, limit: this.#limit, ...readStatus(this.#status) };
  }

  #watch(): void {
    const usage = this.#group.readUsage();
    const stop = (limit: SandboxLimit): void => {
      if (this.#hasExited) this.#limit ??= limit;
      else this.kill(limit);
    };
    if (usage.isMemoryExceeded) stop('memory');
    else if (this.#hasCpuLimit && usage.cpuMs >= this.#cpuMs) stop('cpu');
    else if (usage.isCrowded) stop('processes');
    if (!this.#hasExited) this.#onWatch(stop);
  }

  /** Only where bwrap itself was killed does its first process outlive it, for as long as the kernel takes to end it. */
  async #untilGone(): Promise<void> {
    const pid = this.#firstPid;
    for (let attempt = 0; pid !== undefined && this.#isKilled && attempt < 200; attempt += 1) {
      try {
        process.kill(pid, 0);
      } catch {
        return;
      }
      await sleep(5);
    }
  }
}

function readStatus(text: string): Pick<SandboxEnd, 'status' | 'hasStarted' | 'isCwdMissing'> {
  const end = /\{"exit":(\d+),"signal":(\d+),"leftovers":(\d+)\}/.exec(text);
  return {
    status: end && { exit: Number(end[1]), signal: Number(end[2]), leftovers: Number(end[3]) },
    hasStarted: text.includes('"started"'),
    isCwdMissing: text.includes('{"cwd":false}'),
  };
}
