import { badFile } from './archive-format.ts';

/** Features that a reader must know; only another way of packing is taken (QEMU's docs/interop/qcow2.txt). */
const COMPRESSION_TYPE = 1n << 3n;

/**
 * Reads the size of the disk in a qcow2 file's first bytes, and refuses one that is more than a disk by itself: a file
 * of somebody else may name any file of this host as what it lies over.
 * @throws AppError `image.bad-file`
 */
export function readDiskSize(start: Buffer): bigint {
  if (start.length < 104 || start.toString('latin1', 0, 4) !== 'QFI\xfb')
    throw badFile('its disk is no qcow2');
  if (start.readUInt32BE(4) !== 3) throw badFile('its disk is of another version of qcow2');
  const isAlone =
    start.readBigUInt64BE(8) === 0n && // a backing file
    start.readUInt32BE(32) === 0 && // encryption
    start.readUInt32BE(60) === 0 && // snapshots
    (start.readBigUInt64BE(72) & ~COMPRESSION_TYPE) === 0n; // an external data file and others
  if (!isAlone) throw badFile('its disk is not a plain one that stands by itself');
  return start.readBigUInt64BE(24);
}
