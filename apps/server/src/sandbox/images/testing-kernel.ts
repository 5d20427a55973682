import { execFileSync } from 'node:child_process';

/** A `vmlinuz` in the form of Debian's, around whatever bytes are given as its kernel. */
export function makeVmlinuz(kernel: Buffer): Buffer {
  const payload = execFileSync('lz4', ['-q', '-l', '-c', '-'], { input: kernel });
  const size = Buffer.alloc(4);
  size.writeUInt32LE(kernel.length);
  const setup = Buffer.alloc(5 * 512);
  setup.writeUInt8(4, 0x1f1);
  setup.write('HdrS', 0x202, 'latin1');
  setup.writeUInt32LE(64, 0x248);
  setup.writeUInt32LE(payload.length + 4, 0x24c);
  // Before the payload is the unpacker, after it what else a kernel carries.
  return Buffer.concat([setup, Buffer.alloc(64, 0x90), payload, size, Buffer.alloc(300, 0x55)]);
}

export const ELF = Buffer.from('\x7fELF', 'latin1');
