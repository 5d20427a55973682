/** Errors that a refused system call returns. */
export const EPERM = 1;
export const ENOSYS = 38;
export const EAFNOSUPPORT = 97;

/** Numbers of one processor architecture (uapi/linux/audit.h and its system call table). */
export interface SyscallTable {
  auditArch: number;
  /** Numbers from here on belong to a second ABI (x32) and are refused; `null` where there is none. */
  foreignFrom: number | null;
  clone: number;
  unshare: number;
  socket: number;
  ioctl: number;
  /** Refused with EPERM whatever the arguments are. */
  refused: number[];
  /** Refused with ENOSYS, so that libraries fall back to older calls whose arguments a filter can see. */
  absent: number[];
}

/** Calls with the same number everywhere: io_uring_*, clone3; open_tree … fspick, pidfd_getfd, process_madvise, mount_setattr, quotactl_fd, memfd_secret. */
const ABSENT_EVERYWHERE = [425, 426, 427, 435];
const REFUSED_EVERYWHERE = [428, 429, 430, 431, 432, 433, 438, 440, 442, 443, 447];

const X86_64: SyscallTable = {
  auditArch: 0xc000003e,
  foreignFrom: 0x40000000,
  clone: 56,
  unshare: 272,
  socket: 41,
  ioctl: 16,
  absent: ABSENT_EVERYWHERE,
  refused: [
    // ptrace, process_vm_readv, process_vm_writev, kcmp
    101,
    310,
    311,
    312,
    // bpf, perf_event_open, userfaultfd, fanotify_init, lookup_dcookie
    321,
    298,
    323,
    300,
    212,
    // add_key, request_key, keyctl
    248,
    249,
    250,
    // mount, umount2, pivot_root, chroot, setns, name_to_handle_at, open_by_handle_at
    165,
    166,
    155,
    161,
    308,
    303,
    304,
    // init_module, delete_module, finit_module, create_module, kexec_load, kexec_file_load
    175,
    176,
    313,
    174,
    246,
    320,
    // swapon, swapoff, reboot, sethostname, setdomainname, iopl, ioperm, acct, quotactl
    167,
    168,
    169,
    170,
    171,
    172,
    173,
    163,
    179,
    // settimeofday, adjtimex, clock_settime, clock_adjtime, syslog
    164,
    159,
    227,
    305,
    103,
    // modify_ldt, uselib, nfsservctl, vhangup, _sysctl
    154,
    134,
    180,
    153,
    156,
    // move_pages, migrate_pages, mbind, set_mempolicy, vmsplice
    279,
    256,
    237,
    238,
    278,
    ...REFUSED_EVERYWHERE,
  ],
};

const AARCH64: SyscallTable = {
  auditArch: 0xc00000b7,
  foreignFrom: null,
  clone: 220,
  unshare: 97,
  socket: 198,
  ioctl: 29,
  absent: ABSENT_EVERYWHERE,
  refused: [
    // ptrace, process_vm_readv, process_vm_writev, kcmp
    117,
    270,
    271,
    272,
    // bpf, perf_event_open, userfaultfd, fanotify_init, lookup_dcookie
    280,
    241,
    282,
    262,
    18,
    // add_key, request_key, keyctl
    217,
    218,
    219,
    // mount, umount2, pivot_root, chroot, setns, name_to_handle_at, open_by_handle_at
    40,
    39,
    41,
    51,
    268,
    264,
    265,
    // init_module, delete_module, finit_module, kexec_load, kexec_file_load
    105,
    106,
    273,
    104,
    294,
    // swapon, swapoff, reboot, sethostname, setdomainname, acct, quotactl
    224,
    225,
    142,
    161,
    162,
    89,
    60,
    // settimeofday, adjtimex, clock_settime, clock_adjtime, syslog
    170,
    171,
    112,
    266,
    116,
    // nfsservctl, vhangup
    42,
    58,
    // move_pages, migrate_pages, mbind, set_mempolicy, vmsplice
    239,
    238,
    235,
    237,
    75,
    ...REFUSED_EVERYWHERE,
  ],
};

/** The table of a Node.js architecture name; `null` where none is known (then there is no sandbox). */
export function syscallTable(arch: string): SyscallTable | null {
  if (arch === 'x64') return X86_64;
  if (arch === 'arm64') return AARCH64;
  return null;
}
