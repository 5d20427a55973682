import { afterAll, describe } from 'vitest';
import { describeSandboxProvider } from '../sandbox-provider.contract.ts';
import { hasImage, openQemu, type QemuUnderTest } from './testing-qemu.ts';

let qemu: QemuUnderTest | undefined;
afterAll(() => qemu?.close());

describe.skipIf(!hasImage)('with an image', () => {
  describeSandboxProvider('QEMU', async () => {
    qemu = await openQemu();
    const { open, image, root } = qemu;
    return {
      provider: open(),
      restart: () => open(),
      image,
      machines: `${root}/machines`,
      kill: (vm) => void process.kill(vm.pid ?? 0, 'SIGKILL'),
      remember: (word) => `echo ${word} >/dev/shm/word`,
      recall: 'cat /dev/shm/word',
      write: (word, path) => `echo ${word} >${path}`,
    };
  });
});
