/** Which mechanism holds the memory of a sandboxed tree. */
export type MemoryLimitKind = 'cgroup-v1' | 'cgroup-v2' | 'watchdog';

/** What a sandboxed tree has used, read while it runs. */
export interface ResourceUsage {
  cpuMs: number;
  /** True when the limit was passed: the kernel killed a process for it, or the watchdog saw it. */
  isMemoryExceeded: boolean;
  /** True when the tree sat at its limit of processes for some seconds; looked at where no control group bounds them. */
  isCrowded: boolean;
}

/** The resources of one sandboxed tree. */
export interface ResourceGroup {
  /** Control groups that the first process joins before it starts anything: files to write `0` to. */
  joinFiles: string[];
  /** Told as soon as it is known: the sandbox's first process as the host numbers it. */
  attach(pid: number): void;
  /** Never throws; what cannot be read counts as nothing used. */
  readUsage(): ResourceUsage;
  /** After the last process has ended. */
  remove(): Promise<void>;
}

/** A way to limit trees, found to be possible on this machine. */
export interface ResourceLimiter {
  kind: MemoryLimitKind;
  /** True when it limits the number of processes itself. */
  limitsProcesses: boolean;
  create(name: string, limits: { memoryBytes: number; processes: number }): ResourceGroup;
  /** Removes empty groups that a killed server left. */
  removeStale(): void;
}
