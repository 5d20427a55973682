import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VmSpec } from '../sandbox-provider.ts';
import type { QemuHost } from './launch-vm.ts';
import { fitOf, whyUnfit, type SnapshotFit } from './snapshot-fit.ts';
import { readManifest, writeManifest, type SnapshotManifest } from './snapshot-manifest.ts';

const fit: SnapshotFit = {
  qemu: '7.2',
  accelerator: 'tcg',
  processor: 'p',
  memoryMib: 512,
  cpus: 2,
  commandLine: 'c',
  image: 'i',
};
const manifest: SnapshotManifest = {
  id: 'one',
  createdAt: '2026-11-30T12:00:00.000Z',
  fit,
  memory: [{ file: 'ram.0', bytes: 4096, chunks: [[1, [0, 4096]]] }],
  state: { bytes: 10, crc: 2 },
  disks: [{ name: 'a.qcow2', bytes: 5, crc: null }],
};

describe('the manifest of a snapshot', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitto-manifest-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is read as it was written, and not at all when any byte of it is another', async () => {
    expect(await readManifest(folder)).toBeNull();
    await writeManifest(folder, manifest);
    expect(await readManifest(folder)).toEqual(manifest);
    const path = join(folder, 'manifest.json');
    const whole = await readFile(path);
    for (const at of [0, 70, 100, whole.length - 2]) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(path, bytes);
      await expect(readManifest(folder)).rejects.toThrow('damaged');
    }
    await writeFile(path, whole.subarray(0, -1));
    await expect(readManifest(folder)).rejects.toThrow('damaged');
  });

  it('says what another host has that this one has not', () => {
    expect(whyUnfit(fit, { ...fit })).toBeNull();
    expect(whyUnfit(fit, { ...fit, qemu: '8.0' })).toBe('It was made with another version of QEMU.');
    expect(whyUnfit(fit, { ...fit, memoryMib: 1024 })).toBe('It was made with another memory size.');
    expect(whyUnfit(fit, { ...fit, accelerator: 'kvm' })).toBe('It was made with another accelerator.');
  });

  it('holds to the kernel of its host where that says what a guest sees of the processor', () => {
    const spec = { memoryMib: 512, cpus: 2, image: { hash: 'i' } } as VmSpec;
    const on = (accelerator: 'kvm' | 'tcg') =>
      fitOf({ version: '7.2', accelerator, processor: { hash: 'p', tscKhz: 1 } } as QemuHost, spec);
    expect(on('tcg')).not.toHaveProperty('kernel');
    const made = on('kvm');
    expect(whyUnfit(made, on('kvm'))).toBeNull();
    expect(whyUnfit({ ...made, kernel: '1.0' }, made)).toBe('It was made with another kernel of the host.');
  });
});
