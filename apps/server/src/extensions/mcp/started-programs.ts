import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { newId } from '../../kernel/ids.ts';

/** A process that is told from a later one with the same pid by when it was started. */
const identity = z.strictObject({ pid: z.int().positive(), started: z.string() });
const record = z.strictObject({ host: z.string(), program: identity, by: identity });
type Identity = z.output<typeof identity>;

/**
 * The programs of MCP servers that run on this machine, a small file each. One that ignores the end of its input
 * outlives a Vitto that is killed, with secrets in its environment; the next start finds it here and ends it.
 */
export class StartedPrograms {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Notes a program that leads a group of its own; call what is returned when it has ended. */
  note(pid: number): () => void {
    const program = identify(pid);
    const by = identify(process.pid);
    // It has ended already, or this system does not tell when a process was started.
    if (program === null || by === null) return () => undefined;
    const file = join(this.#folder, `${newId()}.json`);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ host: hostname(), program, by }), { mode: 0o600 });
    return () => rmSync(file, { force: true });
  }

  /**
   * Ends the groups whose Vitto is gone and gives their pids. A group is only ended when its leader is the process
   * that was started then; what another machine noted in a shared home is left alone.
   */
  async sweep(): Promise<number[]> {
    const ended: number[] = [];
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const file = join(this.#folder, name);
      const noted = await read(file);
      if (noted !== null && (noted.host !== hostname() || isRunning(noted.by))) continue;
      if (noted !== null && isRunning(noted.program)) {
        endGroup(noted.program.pid);
        ended.push(noted.program.pid);
      }
      await rm(file, { force: true });
    }
    return ended;
  }
}

/** `null` for a file that is none of ours, or that a killed process has not written to its end. */
async function read(file: string): Promise<z.output<typeof record> | null> {
  try {
    return record.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null;
  }
}

function isRunning(noted: Identity): boolean {
  return identify(noted.pid)?.started === noted.started;
}

/** `null` when there is no such process, when it has ended and only waits for its parent, or without `/proc`. */
function identify(pid: number): Identity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may hold anything; what follows its last bracket are the fields from the third on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, ticks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X' || ticks === undefined) return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { pid, started: `${boot}:${ticks}` };
  } catch {
    return null;
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
