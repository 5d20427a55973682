import type { QemuPrograms } from './qemu-programs.ts';

export type Accelerator = 'kvm' | 'tcg';

/** Descriptors that QEMU inherits, by number. */
export const FD = { monitor: 3, state: 4 } as const;

/** What makes a machine what it is: a snapshot fits only a VM with the same of it. */
export interface MachineShape {
  accelerator: Accelerator;
  memoryMib: number;
  cpus: number;
}

/** How a VM begins: through the kernel, or from a device state that the monitor is told about. */
export type Beginning = { kernel: string; initramfs: string; tscKhz: number } | 'incoming';

export interface QemuPlan extends MachineShape {
  vmId: string;
  rom: string;
  /** The image's file system, shared with other VMs, read only. */
  image: string;
  /** Overlays from the image on; the VM writes to the last. */
  overlays: string[];
  /** The guest's memory; made when missing. */
  memoryFile: string;
  beginning: Beginning;
}

/** QEMU's arguments. It runs in its own folder, where it makes its sockets (whose paths may be 107 bytes long at most). */
export function qemuArguments(plan: QemuPlan): string[] {
  return [
    ...['-name', `guest=vitto-${plan.vmId},process=vitto-vm`],
    ...machineArguments(plan),
    ...[
      '-object',
      `memory-backend-file,id=mem0,size=${plan.memoryMib}M,mem-path=${escape(plan.memoryFile)},share=on`,
    ],
    ...['-bios', plan.rom],
    ...beginning(plan),
    ...blockArguments(plan),
    ...['-chardev', `socket,id=monitor,fd=${FD.monitor}`, '-mon', 'chardev=monitor,mode=control'],
    // For a host that comes after this one.
    ...['-chardev', 'socket,id=later,path=qmp.sock,server=on,wait=off', '-mon', 'chardev=later,mode=control'],
    ...['-chardev', 'socket,id=agent,path=agent.sock,server=on,wait=off'],
    // The host reads it and keeps the end of it; when there is no host, it goes nowhere.
    ...['-chardev', 'stdio,id=console,signal=off', '-serial', 'chardev:console'],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
  ];
}

/** What the guest sees: no network card and no shared folder. Without paths, so that a snapshot can be held to it. */
export function machineArguments(shape: MachineShape): string[] {
  return [
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-M', 'microvm,pit=off,pic=off,memory-backend=mem0'],
    // KVM: a guest has no use for VMs of its own, which are a way into the host's kernel and do not go into snapshots.
    // TCG: with erms, copying memory is two or three times slower; 57 bits of addresses cost a level of page tables.
    ...(shape.accelerator === 'kvm'
      ? ['-accel', 'kvm', '-cpu', 'host,-vmx,-svm']
      : ['-accel', 'tcg,tb-size=128', '-cpu', 'max,-la57,-erms']),
    ...['-smp', String(shape.cpus), '-m', String(shape.memoryMib)],
    // A full disk of the host is an error to the guest; by default it would stop the whole VM.
    ...['-device', 'virtio-blk-device,drive=disk,werror=report,rerror=report'],
    ...['-device', 'virtio-rng-device', '-device', 'virtio-serial-device'],
    ...['-device', 'virtserialport,chardev=agent,name=vitto.agent,id=agent'],
  ];
}

/**
 * The kernel's command line. Under TCG on a busy host its clock calibration hangs, so it is told the frequency; and with
 * two processors it would mistrust the counter and lose time by the second (measured: 7 s over one command).
 */
export function kernelArguments(accelerator: Accelerator, tscKhz: number): string {
  const emulated = `tsc_early_khz=${tscKhz} tsc=reliable nokaslr mitigations=off `;
  return (
    'console=ttyS0 quiet loglevel=1 panic=-1 reboot=t cryptomgr.notests ' +
    (accelerator === 'tcg' ? emulated : '') +
    'audit=0 apparmor=0 random.trust_cpu=on 8250.nr_uarts=1'
  );
}

function beginning({ beginning, accelerator }: QemuPlan): string[] {
  // The kernel is in the memory that comes in, so the 50 MB of its file need not be read.
  if (beginning === 'incoming') return ['-incoming', 'defer'];
  const { kernel, initramfs, tscKhz } = beginning;
  return ['-kernel', kernel, '-initrd', initramfs, '-append', kernelArguments(accelerator, tscKhz)];
}

/** Each layer is named here: what an overlay's own header says of a backing file counts for nothing. */
function blockArguments({ image, overlays }: QemuPlan): string[] {
  const nodes: object[] = [{ driver: 'raw', 'node-name': 'image', 'read-only': true, file: fileNode(image) }];
  overlays.forEach((path, index) => {
    const isTop = index === overlays.length - 1;
    nodes.push({
      driver: 'qcow2',
      'node-name': isTop ? 'disk' : `layer${index}`,
      'read-only': !isTop,
      backing: index === 0 ? 'image' : `layer${index - 1}`,
      ...(isTop ? { discard: 'unmap', 'detect-zeroes': 'unmap' } : {}),
      file: { ...fileNode(path), ...(isTop ? { discard: 'unmap' } : {}) },
    });
  });
  return nodes.flatMap((node) => ['-blockdev', JSON.stringify(node)]);
}

/** Through the host's page cache, flushed when the guest flushes. */
function fileNode(filename: string): object {
  return { driver: 'file', filename, cache: { direct: false, 'no-flush': false } };
}

/** A comma parts options; two of them are one. */
function escape(path: string): string {
  return path.replaceAll(',', ',,');
}

/** Bash, for dash closes no descriptor above 9. Whoever started the server may have left some open, which it hands on. */
const PREPARE = `ulimit -c 0
n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 >"$1" || exit 125; shift; n=$((n-1)); done
for open in /proc/self/fd/*; do fd=\${open##*/}; [ "$fd" -le ${FD.state} ] || eval "exec $fd>&-"; done
exec "$@"`;

/**
 * The command line of a VM: each program in it does one thing to itself and becomes the next. No core dumps (a guest's
 * memory has secrets), into the control groups, no descriptor that is not its own → behind the server in the queue for processors → give up all
 * privileges → QEMU. The script is fixed and gets everything as arguments.
 */
export function launchCommand(
  programs: QemuPrograms,
  user: VmUser,
  {
    joinFiles,
    deviceGroup,
    qemu,
  }: {
    joinFiles: string[];
    /** The group that may open `/dev/kvm`; `null`: it is not needed, or everybody may. */
    deviceGroup: number | null;
    qemu: string[];
  },
): string[] {
  const drop =
    user === null
      ? []
      : [
          `--reuid=${user.uid}`,
          `--regid=${user.gid}`,
          deviceGroup === null ? '--clear-groups' : `--groups=${deviceGroup}`,
          '--bounding-set=-all',
          '--inh-caps=-all',
        ];
  return [
    ...[programs.bash, '-c', PREPARE, 'bash', String(joinFiles.length), ...joinFiles],
    ...[programs.nice, '-n', '5'],
    ...[programs.setpriv, ...drop, '--no-new-privs', '--'],
    ...[programs.qemu, ...qemu],
  ];
}

/** The unprivileged user of a machine; `null`: the server is unprivileged itself. */
export type VmUser = { uid: number; gid: number } | null;
