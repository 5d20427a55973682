import type { VmSpec } from '../sandbox-provider.ts';
import { QemuProvider } from './qemu-provider.ts';

/** A host in a process of its own, for tests that kill it: `testing-host.ts ROOT SPEC ACTION`. Prints `done` at the end. */
const [root = '', spec = '', action = ''] = process.argv.slice(2);
const provider = new QemuProvider({ root, findImage: async () => null });
const machine = JSON.parse(spec) as VmSpec;
if (action === 'boot') await provider.create(machine);
if (action === 'restore') await provider.restore(machine, 'machine');
if (action === 'suspend') {
  const vm = await provider.adopt(machine);
  if (vm !== null) await provider.suspend(vm);
}
process.stdout.write('done\n');
setInterval(() => undefined, 60_000);
