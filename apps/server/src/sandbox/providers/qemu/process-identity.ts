import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  pid: number;
  /** When it started, in ticks since the host did. */
  startTime: string;
  bootId: string;
}

export function identify(pid: number): ProcessIdentity | null {
  const stat = readStat(pid);
  return stat === null ? null : { pid, startTime: stat.startTime, bootId: readBootId() };
}

/** Whether it is there still. One that has ended and waits to be reaped is not. */
export function isAlive({ pid, startTime, bootId }: ProcessIdentity): boolean {
  const stat = readStat(pid);
  return stat !== null && stat.startTime === startTime && stat.state !== 'Z' && bootId === readBootId();
}

/** Sends a signal to this process and no other. True when it was sent. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}

/** Resolves to true once it has ended, to false when it has not in this time. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(identity)) {
    if (performance.now() > deadline) return false;
    await sleep(5);
  }
  return true;
}

export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** Arguments of a process, the program first; empty when it is gone. */
export function readArguments(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

function readStat(pid: number): { state: string; startTime: string } | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startTime: fields[19] ?? '' };
  } catch {
    return null;
  }
}
