import { AppError } from '../../kernel/app-error.ts';

/** How kernels are packed, by their first bytes, and the program that unpacks each from stdin to stdout or a file. */
const PACKERS: readonly { magic: string; command: (to: string) => string[] }[] = [
  { magic: '02214c18', command: (to) => ['lz4', '-q', '-d', '-f', '-', to] },
  { magic: '28b52ffd', command: (to) => ['zstd', '-q', '-d', '-f', '-o', to] },
];

export interface PackedKernel {
  payload: Uint8Array;
  /** Bytes of the kernel when it is unpacked. */
  size: number;
  /** Unpacks what is given on stdin into a file. */
  unpackTo: (file: string) => string[];
}

/**
 * The kernel inside a bzImage (`vmlinuz`), by its header (the kernel's Documentation/arch/x86/boot.rst, protocol 2.08
 * and later): QEMU starts the bare one at once, without the real-mode part and without unpacking it at each boot.
 * @throws AppError `image.bad-kernel`
 */
export function readPackedKernel(vmlinuz: Uint8Array): PackedKernel {
  const image = Buffer.from(vmlinuz.buffer, vmlinuz.byteOffset, vmlinuz.byteLength);
  if (image.length < 0x250 || image.toString('latin1', 0x202, 0x206) !== 'HdrS')
    throw bad('it is no bzImage');
  // The setup sectors; 0 means 4. Before them is the boot sector.
  const setup = (image.readUInt8(0x1f1) || 4) + 1;
  const start = setup * 512 + image.readUInt32LE(0x248);
  const end = start + image.readUInt32LE(0x24c);
  if (end > image.length || end - start < 8) throw bad('its header points outside of it');
  const magic = image.toString('hex', start, start + 4);
  const packer = PACKERS.find((one) => one.magic === magic);
  if (packer === undefined) throw bad(`it is packed in a way that is not known (${magic})`);
  // The last four bytes are the size of what comes out.
  return {
    payload: image.subarray(start, end - 4),
    size: image.readUInt32LE(end - 4),
    unpackTo: packer.command,
  };
}

function bad(why: string): AppError {
  return new AppError('image.bad-kernel', `The kernel of the suite cannot be used: ${why}.`, {
    status: 500,
    hint: 'Build with the Debian suite that the recipe came with, or report it with the suite you chose.',
  });
}
