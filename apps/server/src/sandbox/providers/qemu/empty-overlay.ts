/** Of QEMU's default cluster, in bytes: 64 KiB. */
const CLUSTER_BITS = 16;
const CLUSTER = 1 << CLUSTER_BITS;
/** One second-level table maps this many bytes. */
const PER_L1_ENTRY = CLUSTER * (CLUSTER / 8);

/**
 * The bytes of an empty qcow2 file (version 3) of a size, without a backing file in it: what lies under an overlay is
 * told to QEMU. Written here because starting `qemu-img create` takes as long as copying the memory of a small guest.
 * Layout (docs/interop/qcow2.txt of QEMU): header, refcount table, refcount block, first-level table, a cluster each.
 */
export function emptyOverlay(sizeBytes: number): Buffer {
  const l1Entries = Math.ceil(sizeBytes / PER_L1_ENTRY);
  if (l1Entries > CLUSTER / 8) throw new Error(`a disk of ${sizeBytes} bytes is too large`);
  const file = Buffer.alloc(4 * CLUSTER);
  file.write('QFI\xfb', 0, 'latin1');
  file.writeUInt32BE(3, 4);
  file.writeUInt32BE(CLUSTER_BITS, 20);
  file.writeBigUInt64BE(BigInt(sizeBytes), 24);
  file.writeUInt32BE(l1Entries, 36);
  file.writeBigUInt64BE(BigInt(3 * CLUSTER), 40);
  file.writeBigUInt64BE(BigInt(CLUSTER), 48);
  file.writeUInt32BE(1, 56);
  // Refcounts of 2^4 bits; a header of 112 bytes.
  file.writeUInt32BE(4, 96);
  file.writeUInt32BE(112, 100);
  file.writeBigUInt64BE(BigInt(2 * CLUSTER), CLUSTER);
  for (let cluster = 0; cluster < 4; cluster += 1) file.writeUInt16BE(1, 2 * CLUSTER + cluster * 2);
  return file;
}
