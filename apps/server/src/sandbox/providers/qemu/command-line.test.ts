import { describe, expect, it } from 'vitest';
import { kernelArguments, launchCommand, qemuArguments, type QemuPlan } from './command-line.ts';

const plan: QemuPlan = {
  vmId: 'vm-1',
  accelerator: 'tcg',
  memoryMib: 512,
  cpus: 2,
  rom: '/rom',
  image: '/images/disk.raw',
  overlays: ['/m/one.qcow2', '/m/two.qcow2'],
  memoryFile: '/run/a,b/ram',
  beginning: { kernel: '/kernel', initramfs: '/initramfs', tscKhz: 2_596_148 },
};
const after = (args: string[], option: string): string[] =>
  args.flatMap((arg, index) => (args[index - 1] === option ? [arg] : []));
const nodes = (args: string[]): Record<string, unknown>[] =>
  after(args, '-blockdev').map((text) => JSON.parse(text) as Record<string, unknown>);

describe('the command line of a VM', () => {
  it('gives the guest no network card, no shared folder and no way to start programs', () => {
    for (const accelerator of ['kvm', 'tcg'] as const) {
      const args = qemuArguments({ ...plan, accelerator });
      expect(args).toContain('-nodefaults');
      expect(after(args, '-device').map((device) => device.split(',')[0])).toEqual([
        'virtio-blk-device',
        'virtio-rng-device',
        'virtio-serial-device',
        'virtserialport',
      ]);
      expect(args.filter((arg) => /^-(net|netdev|nic|fsdev|virtfs|usb|vnc|spice)/.test(arg))).toEqual([]);
      expect(after(args, '-sandbox')).toEqual([
        'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
      ]);
    }
  });

  it('knows KVM from emulation, to QEMU and to the kernel', () => {
    const kvm = qemuArguments({ ...plan, accelerator: 'kvm' });
    expect([after(kvm, '-accel'), after(kvm, '-cpu')]).toEqual([['kvm'], ['host,-vmx,-svm']]);
    // The local timer of `host` stands in for them; interrupts come through the split controller that microvm has by itself.
    expect(after(kvm, '-M')).toEqual(['microvm,pit=off,pic=off,memory-backend=mem0']);
    expect(kvm.join()).not.toMatch(/irqchip|migratable|invtsc/);
    expect(after(kvm, '-append').join()).not.toMatch(/tsc_early_khz|nokaslr|mitigations/);
    const tcg = qemuArguments(plan);
    expect([after(tcg, '-accel'), after(tcg, '-cpu')]).toEqual([['tcg,tb-size=128'], ['max,-la57,-erms']]);
    expect(after(tcg, '-append').join()).toContain(
      'tsc_early_khz=2596148 tsc=reliable nokaslr mitigations=off',
    );
    expect(kernelArguments('tcg', 1)).toContain('console=ttyS0');
  });

  it('writes to the last layer of the disk only, whatever their headers say', () => {
    expect(nodes(qemuArguments(plan))).toMatchObject([
      { 'node-name': 'image', 'read-only': true, driver: 'raw' },
      { 'node-name': 'layer0', 'read-only': true, backing: 'image', file: { filename: '/m/one.qcow2' } },
      { 'node-name': 'disk', 'read-only': false, backing: 'layer0', discard: 'unmap' },
    ]);
  });

  it('reads no kernel where a state comes in, and takes commas in paths for what they are', () => {
    const args = qemuArguments({ ...plan, beginning: 'incoming' });
    expect(after(args, '-incoming')).toEqual(['defer']);
    expect(args).not.toContain('-kernel');
    expect(after(args, '-object').join()).toContain('mem-path=/run/a,,b/ram,share=on');
  });

  it('gives up everything before QEMU begins', () => {
    const programs = { qemu: 'qemu', rom: '', qemuImg: '', setpriv: 'setpriv', nice: 'nice', bash: 'bash' };
    const how = { joinFiles: ['/cg/a'], deviceGroup: null, qemu: ['-x'] };
    const asUser = launchCommand(programs, { uid: 7, gid: 8 }, how);
    expect(asUser.slice(0, 2)).toEqual(['bash', '-c']);
    expect(asUser.slice(3)).toEqual(
      'bash 1 /cg/a nice -n 5 setpriv --reuid=7 --regid=8 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs -- qemu -x'.split(
        ' ',
      ),
    );
    const withKvm = launchCommand(programs, { uid: 7, gid: 8 }, { ...how, deviceGroup: 108 });
    expect(withKvm).toContain('--groups=108');
    expect(launchCommand(programs, null, how).join(' ')).toMatch(/setpriv --no-new-privs -- qemu -x$/);
  });
});
