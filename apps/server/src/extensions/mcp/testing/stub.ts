import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpTransport } from '@vitto/contracts';
import { StartedPrograms } from '../started-programs.ts';

const STUB = fileURLToPath(new URL('./stub-server.ts', import.meta.url));

export interface Stub {
  transport: Extract<McpTransport, { kind: 'stdio' }>;
  /** The processes that were started so far: the server's, and what it started itself. */
  pids: () => number[];
  /** What it was told to note, in the scenario `notes`: all its processes together. */
  notes: () => string[];
  remove: () => Promise<void>;
}

/** How to start the stub server in one of its scenarios, and how often that was done. */
export async function createStub(scenario: string): Promise<Stub> {
  const folder = await mkdtemp(join(tmpdir(), 'vitto-mcp-stub-'));
  const log = join(folder, 'starts');
  const notes = join(folder, 'notes');
  const lines = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
  return {
    transport: {
      kind: 'stdio',
      command: process.execPath,
      args: [STUB, scenario],
      env: { STUB_STARTS: log, STUB_NOTES: notes },
    },
    pids: () => lines(log).map(Number),
    notes: () => lines(notes),
    remove: () => rm(folder, { recursive: true }),
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that has ended and waits for its parent to notice is over as well.
    return !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Notes of started programs in one folder for all tests: each note is a file of its own, gone with its program. */
export function createTestPrograms(): StartedPrograms {
  return new StartedPrograms(join(tmpdir(), 'vitto-test-programs'));
}
