/** What one command and everything it starts may use (specification 02, "Degraded mode"). */
export interface SandboxLimits {
  /** Processor time of the whole tree, in milliseconds. Does not apply to what `startProcess` runs. */
  cpuMs: number;
  /** Resident memory of the whole tree, in bytes. */
  memoryBytes: number;
  /** Processes and threads of the tree. */
  processes: number;
  /** The largest file that may be written, in bytes. */
  fileBytes: number;
  openFiles: number;
  /** Output of one command, after which it is ended. */
  outputBytes: number;
  /** What home and /tmp of a session may hold together. Checked while commands run, so it may be passed by what is written in about half a second. */
  diskBytes: number;
  /** How many files and folders they may hold, checked likewise. */
  diskEntries: number;
}

const MiB = 1024 * 1024;

export const DEFAULT_LIMITS: SandboxLimits = {
  cpuMs: 30_000,
  memoryBytes: 256 * MiB,
  processes: 512,
  fileBytes: 256 * MiB,
  openFiles: 1024,
  outputBytes: 64 * MiB,
  diskBytes: 1024 * MiB,
  diskEntries: 300_000,
};

/** The limit that ended a command. */
export type SandboxLimit = 'memory' | 'cpu' | 'output' | 'disk' | 'processes';
