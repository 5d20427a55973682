import { describe, expect, it } from 'vitest';
import { compileSeccompFilter } from './seccomp-filter.ts';
import { EAFNOSUPPORT, ENOSYS, EPERM, syscallTable, type SyscallTable } from './seccomp-rules.ts';

const ALLOWED = 0x7fff0000;
const refused = (errno: number): number => 0x00050000 | errno;

/** Runs a filter as the kernel does, over the fields of struct seccomp_data. */
function run(program: Buffer, call: { nr: number; arch: number; args?: number[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.nr >>> 0, 0);
  data.writeUInt32LE(call.arch >>> 0, 4);
  (call.args ?? []).forEach((arg, index) => data.writeBigUInt64LE(BigInt(arg), 16 + index * 8));
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const code = program.readUInt16LE(at * 8);
    const [jt, jf, k] = [
      program.readUInt8(at * 8 + 2),
      program.readUInt8(at * 8 + 3),
      program.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x06) return k;
    else {
      const holds =
        code === 0x15 ? accumulator === k : code === 0x35 ? accumulator >= k : (accumulator & k) !== 0;
      at += holds ? jt : jf;
    }
  }
  throw new Error('the program runs off its end');
}

for (const arch of ['x64', 'arm64']) {
  describe(`the system call filter of ${arch}`, () => {
    const table = syscallTable(arch) as SyscallTable;
    const program = compileSeccompFilter(table);
    const verdict = (nr: number, ...args: number[]): number =>
      run(program, { nr, arch: table.auditArch, args });

    it('fits what the kernel takes', () => {
      expect(program.length % 8).toBe(0);
      expect(program.length / 8).toBeLessThan(4096);
    });

    it('allows ordinary calls', () => {
      const ordinary = arch === 'x64' ? [0, 1, 9, 39, 57, 59, 231, 257] : [56, 63, 64, 93, 172, 221, 222];
      for (const nr of ordinary) expect(verdict(nr), String(nr)).toBe(ALLOWED);
    });

    it('refuses what is listed', () => {
      for (const nr of table.refused) expect(verdict(nr), String(nr)).toBe(refused(EPERM));
      for (const nr of table.absent) expect(verdict(nr), String(nr)).toBe(refused(ENOSYS));
      expect(new Set(table.refused).size).toBe(table.refused.length);
    });

    it('lets threads and processes be made, but no namespaces', () => {
      expect(verdict(table.clone, 0x3d0f00)).toBe(ALLOWED);
      expect(verdict(table.clone, 17)).toBe(ALLOWED);
      for (const flag of [
        0x10000000, 0x00020000, 0x40000000, 0x20000000, 0x04000000, 0x08000000, 0x02000000,
      ]) {
        expect(verdict(table.clone, flag | 17)).toBe(refused(EPERM));
        expect(verdict(table.unshare, flag)).toBe(refused(EPERM));
      }
      expect(verdict(table.unshare, 0x400)).toBe(ALLOWED);
      expect(verdict(table.unshare, 0x80)).toBe(refused(EPERM));
    });

    it('keeps sockets to unix, IP and routing netlink', () => {
      for (const family of [1, 2, 10]) expect(verdict(table.socket, family, 1, 0)).toBe(ALLOWED);
      expect(verdict(table.socket, 16, 3, 0)).toBe(ALLOWED);
      expect(verdict(table.socket, 16, 3, 9)).toBe(refused(EAFNOSUPPORT));
      for (const family of [3, 17, 38, 40, 44])
        expect(verdict(table.socket, family, 1, 0)).toBe(refused(EAFNOSUPPORT));
    });

    it('refuses to push characters into a terminal', () => {
      expect(verdict(table.ioctl, 0, 0x5412)).toBe(refused(EPERM));
      expect(verdict(table.ioctl, 0, 0x541c)).toBe(refused(EPERM));
      expect(verdict(table.ioctl, 0, 0x5401)).toBe(ALLOWED);
    });

    it('refuses every call of another architecture or ABI', () => {
      expect(run(program, { nr: 1, arch: 0x40000003 })).toBe(refused(EPERM));
      if (table.foreignFrom !== null) expect(verdict(table.foreignFrom + 1)).toBe(refused(ENOSYS));
    });
  });
}

it('knows no filter for other processors', () => {
  expect(syscallTable('riscv64')).toBeNull();
});
