import { EAFNOSUPPORT, ENOSYS, EPERM, type SyscallTable } from './seccomp-rules.ts';

/** One instruction of classic BPF (uapi/linux/filter.h): code, jump if true, jump if false, constant. */
type Instruction = [code: number, jt: number, jf: number, k: number];

const LOAD_WORD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP_IF_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_IF_AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const JUMP_IF_ANY_BIT = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

const ALLOW = 0x7fff0000;
const refuse = (errno: number): number => 0x00050000 | errno;

/** Offsets in struct seccomp_data; arguments by their low half (both architectures are little-endian). */
const NR = 0;
const ARCH = 4;
const argument = (index: number): number => 16 + 8 * index;

/** CLONE_NEWTIME is not among them for clone(2), where that bit is part of the exit signal. */
const NEW_NAMESPACES =
  0x02000000 | 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000;
const NEW_TIME_NAMESPACE = 0x00000080;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/**
 * The compiled filter that `bwrap --seccomp` loads: everything is allowed but what reaches out of the sandbox or
 * into rarely used parts of the kernel. New namespaces are refused, for they bring capabilities; sockets are kept to
 * unix, IP and routing netlink, since vsock and others do not respect network namespaces.
 */
export function compileSeccompFilter(table: SyscallTable): Buffer {
  const program: Instruction[] = [
    [LOAD_WORD, 0, 0, ARCH],
    [JUMP_IF_EQUAL, 1, 0, table.auditArch],
    [RETURN, 0, 0, refuse(EPERM)],
    [LOAD_WORD, 0, 0, NR],
  ];
  if (table.foreignFrom !== null) {
    program.push([JUMP_IF_AT_LEAST, 0, 1, table.foreignFrom], [RETURN, 0, 0, refuse(ENOSYS)]);
  }
  for (const nr of table.absent) program.push([JUMP_IF_EQUAL, 0, 1, nr], [RETURN, 0, 0, refuse(ENOSYS)]);
  for (const nr of table.refused) program.push([JUMP_IF_EQUAL, 0, 1, nr], [RETURN, 0, 0, refuse(EPERM)]);
  program.push(...onCall(table.clone, refuseBits(NEW_NAMESPACES)));
  program.push(...onCall(table.unshare, refuseBits(NEW_NAMESPACES | NEW_TIME_NAMESPACE)));
  program.push(...onCall(table.socket, socketRule()));
  program.push(...onCall(table.ioctl, terminalRule()));
  program.push([RETURN, 0, 0, ALLOW]);
  return encode(program);
}

/** Runs `rule`, which must end by returning, when the call's number is `nr`. */
function onCall(nr: number, rule: Instruction[]): Instruction[] {
  return [[JUMP_IF_EQUAL, 0, rule.length, nr], ...rule];
}

function refuseBits(mask: number): Instruction[] {
  return [
    [LOAD_WORD, 0, 0, argument(0)],
    [JUMP_IF_ANY_BIT, 0, 1, mask],
    [RETURN, 0, 0, refuse(EPERM)],
    [RETURN, 0, 0, ALLOW],
  ];
}

function socketRule(): Instruction[] {
  return [
    [LOAD_WORD, 0, 0, argument(0)],
    [JUMP_IF_EQUAL, 6, 0, AF_UNIX],
    [JUMP_IF_EQUAL, 5, 0, AF_INET],
    [JUMP_IF_EQUAL, 4, 0, AF_INET6],
    [JUMP_IF_EQUAL, 0, 2, AF_NETLINK],
    [LOAD_WORD, 0, 0, argument(2)],
    [JUMP_IF_EQUAL, 1, 0, 0], // NETLINK_ROUTE, which getifaddrs(3) asks
    [RETURN, 0, 0, refuse(EAFNOSUPPORT)],
    [RETURN, 0, 0, ALLOW],
  ];
}

function terminalRule(): Instruction[] {
  return [
    [LOAD_WORD, 0, 0, argument(1)],
    [JUMP_IF_EQUAL, 1, 0, TIOCSTI],
    [JUMP_IF_EQUAL, 0, 1, TIOCLINUX],
    [RETURN, 0, 0, refuse(EPERM)],
    [RETURN, 0, 0, ALLOW],
  ];
}

function encode(program: Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jt, jf, k], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
  });
  return bytes;
}
