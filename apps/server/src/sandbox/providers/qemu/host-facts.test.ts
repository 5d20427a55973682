import { describe, expect, it } from 'vitest';
import { emptyOverlay } from './empty-overlay.ts';
import { readHostProcessor } from './host-processor.ts';
import { identify, isAlive, signalProcess } from './process-identity.ts';
import { defaultVmUids, vmUser } from './vm-user.ts';

describe('what is known of the host', () => {
  it('gives each machine a user of its own, where user numbers reach so far', () => {
    expect(defaultVmUids(1000)).toBeNull();
    const large = defaultVmUids(0, '         0          0 4294967295\n');
    expect(vmUser(large, 7)).toEqual({ uid: 2_000_000_007, gid: 2_000_000_007 });
    const small = defaultVmUids(0, '0 100000 65536\n');
    expect(vmUser(small, 20_001)).toEqual({ uid: 40_001, gid: 40_001 });
    expect(vmUser(null, 7)).toBeNull();
  });

  it('tells processors apart by what they can, not by how fast they run now', () => {
    const cpuinfo = (flags: string, mhz: string): string =>
      `vendor_id\t: A\nmodel\t\t: 1\ncpu MHz\t\t: ${mhz}\nflags\t\t: ${flags}\n`;
    const one = readHostProcessor(cpuinfo('sse avx', '2596.148'));
    expect(one.tscKhz).toBe(2_596_148);
    expect(readHostProcessor(cpuinfo('sse avx', '1200.000')).hash).toBe(one.hash);
    expect(readHostProcessor(cpuinfo('sse', '2596.148')).hash).not.toBe(one.hash);
  });

  it('signals no process that only has the number of another', () => {
    const self = identify(process.pid);
    if (self === null) throw new Error('no identity');
    expect(isAlive(self)).toBe(true);
    for (const other of [
      { ...self, startTime: '1' },
      { ...self, bootId: 'another' },
    ]) {
      expect(isAlive(other)).toBe(false);
      expect(signalProcess(other, 'SIGKILL')).toBe(false);
    }
  });

  it('writes an empty disk of a size', () => {
    const file = emptyOverlay(4 * 1024 ** 3);
    expect(file.toString('latin1', 0, 4)).toBe('QFI\xfb');
    expect(file.readBigUInt64BE(24)).toBe(4n * 1024n ** 3n);
    expect(file.readBigUInt64BE(8)).toBe(0n);
  });
});
