import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMb } from './report.ts';

const ROOT = join(import.meta.dirname, '..');
const POLL_MS = 5;
const STOP_LIMIT_MS = 30_000;

export interface Start {
  /** From the start of the process to the first 200 of /readyz. */
  seconds: number;
  /** Resident memory of the process then, without its database. */
  residentMb: number;
}

/** Vitto as `npm start` starts it, with its data in `home` and no provider keys. */
export class InstallationProcess {
  readonly #home: string;
  readonly #port: number;
  readonly #child: ChildProcess;
  readonly #started = performance.now();
  #printed = '';

  constructor(home: string, port: number) {
    this.#home = home;
    this.#port = port;
    const args = ['scripts/vitto.mjs', 'start', '--no-open', '--port', String(port)];
    const env = { ...plainEnvironment(), VITTO_HOME: home };
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#printed = (this.#printed + text).slice(-4_000);
      });
    this.#child = child;
  }

  /** @throws when it ends or is not ready in time, with what it printed. */
  async untilReady(limitMs: number): Promise<Start> {
    while (!(await isReady(this.#port))) {
      const isLate = performance.now() - this.#started > limitMs;
      if (this.#hasEnded || isLate)
        throw new Error(`Vitto was not ready within ${limitMs / 1000} s; it printed:\n${this.#printed}`);
      await sleep(POLL_MS);
    }
    const seconds = (performance.now() - this.#started) / 1000;
    return { seconds, residentMb: residentMb(this.#child.pid ?? 0) };
  }

  /** Stops it in order; throws when it leaves its database running. */
  async stop(): Promise<void> {
    if (!this.#hasEnded) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(timer);
    }
    const pidFile = join(this.#home, 'postgres', 'postmaster.pid');
    if (!existsSync(pidFile)) return;
    const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGINT');
    throw new Error(`Vitto left its database running (process ${pid}); it has been stopped now`);
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

/** Nothing of the caller's own installation, database or keys. */
function plainEnvironment(): Record<string, string> {
  const isForeign = (name: string) => /^VITTO_|^DATABASE_URL$|_API_KEY$|_BASE_URL$|^OLLAMA_HOST$/.test(name);
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !isForeign(entry[0]),
    ),
  );
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
      signal: AbortSignal.timeout(5_000),
      headers: { connection: 'close' },
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** A port that is free now. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
