import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** Where the figures come from: they compare within one run, hardly between machines. */
export interface MachineInfo {
  node: string;
  cores: number;
  processor: string;
  memoryGb: number;
  /** Average number of running processes over the last minute, before the bench began. */
  loadBefore: number;
  system: string;
}

export function describeMachine(): MachineInfo {
  return {
    node: process.version,
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    loadBefore: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    system: `${process.platform} ${process.arch}`,
  };
}

export function machineLine(machine: MachineInfo): string {
  const busy = machine.loadBefore > machine.cores / 2 ? ' (BUSY: figures are too high)' : '';
  return `Node ${machine.node} on ${machine.system}, ${machine.cores} cores (${machine.processor}), ${machine.memoryGb} GB, load before ${machine.loadBefore}${busy}`;
}

/** A plain-text table; columns of numbers are aligned to the right. */
export function toTable(head: string[], rows: (string | number)[][]): string {
  const texts = rows.map((row) => row.map(String));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => (row[column] ?? '').length)),
  );
  const isNumber = head.map((_, column) => texts.every((row) => /^[-+]?[\d.,]+|^–$/.test(row[column] ?? '')));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isNumber[column] === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...texts.map(line)].join('\n');
}

/** A figure with as many decimals as are worth reading. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

/** Progress, for a person at the terminal: never on standard output, which holds the result. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Resident memory of a process in MB; NaN where /proc does not tell. */
export function residentMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}
