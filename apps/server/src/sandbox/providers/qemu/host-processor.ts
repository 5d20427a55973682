import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** What a snapshot or a boot depends on of this host's processor. */
export interface HostProcessor {
  /** Of its model and abilities: a guest's memory knows which it found. */
  hash: string;
  /** Ticks of its time stamp counter, in kHz. */
  tscKhz: number;
}

export function readHostProcessor(cpuinfo = readFileSync('/proc/cpuinfo', 'utf8')): HostProcessor {
  const field = (name: string): string => new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(cpuinfo)?.[1] ?? '';
  const identity = [
    field('vendor_id'),
    field('cpu family'),
    field('model'),
    field('stepping'),
    field('flags'),
  ];
  return {
    hash: createHash('sha256').update(identity.join('\n')).digest('hex').slice(0, 16),
    tscKhz: Math.round(Number(field('cpu MHz')) * 1000),
  };
}
