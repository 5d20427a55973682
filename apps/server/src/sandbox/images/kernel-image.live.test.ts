import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pickBuildEnvironment } from './build-environment.ts';
import { readPackedKernel } from './kernel-image.ts';
import { runProgram } from './run-program.ts';
import { ELF, makeVmlinuz } from './testing-kernel.ts';

const kernel = Buffer.concat([ELF, Buffer.from('a kernel that says little '.repeat(50_000))]);

it('the bare kernel comes out of a vmlinuz as it was', async () => {
  const packed = readPackedKernel(makeVmlinuz(kernel));
  expect(packed.size).toBe(kernel.length);
  const folder = await mkdtemp(join(tmpdir(), 'vitto-kernel-'));
  try {
    const file = join(folder, 'kernel');
    const surroundings = { environment: pickBuildEnvironment({}) };
    await runProgram(packed.unpackTo(file), surroundings, { stdin: packed.payload });
    expect((await readFile(file)).equals(kernel)).toBe(true);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it.each<[string, (image: Buffer) => Buffer]>([
  ['is no bzImage', (image) => image.subarray(0x200)],
  ['is cut short', (image) => image.subarray(0, 4_000)],
  ['points outside of itself', (image) => (image.writeUInt32LE(0xfffffff0, 0x24c), image)],
  ['is packed in another way', (image) => (image.write('\x1f\x8b', 5 * 512 + 64, 'latin1'), image)],
  ['is empty', () => Buffer.alloc(0)],
])('a file that %s is refused', (_what, change) => {
  expect(() => readPackedKernel(change(makeVmlinuz(kernel)))).toThrow(
    expect.objectContaining({ code: 'image.bad-kernel' }) as Error,
  );
});
