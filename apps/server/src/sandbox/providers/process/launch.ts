import { readdirSync, statSync } from 'node:fs';
import type { HostPrograms } from './host-programs.ts';
import { asSandboxUser, type SandboxUser } from './sandbox-user.ts';
import type { SandboxLimits } from './sandbox-limits.ts';

/** Descriptors that a launch inherits, by number. */
export const FD = { user: 3, network: 4, filter: 5, info: 6, status: 7 } as const;

export interface Launch {
  programs: HostPrograms;
  user: SandboxUser;
  limits: SandboxLimits;
  /** Files of control groups to write `0` to. */
  joinFiles: string[];
  /** Whether processes are limited by rlimit, for want of a control group. */
  limitsProcessesByRlimit: boolean;
  /** Whether memory is limited by a watchdog alone, which a fast hog outruns: then each process's data is bounded too. */
  limitsDataByRlimit: boolean;
  hasCpuLimit: boolean;
  /** `bwrap` arguments for the file system and environment. */
  mounts: string[];
  /** What runs inside. */
  command: string[];
}

/** What Node.js 24 reserves for code and never touches; with less it does not start (measured: between 512 and 768 MiB). */
const NODE_RESERVES = 1024 * 1024 * 1024;

const JOIN_GROUPS =
  'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 >"$1" || exit 125; shift; n=$((n-1)); done; exec "$@"';
/**
 * Closes all but the standard descriptors and those that bwrap and the supervisor take. Whoever started the server may
 * have left some open, which Node.js hands on, and from a folder that is open a path leads out of the sandbox.
 */
const CLOSE_OTHERS = `opendir my $open, '/proc/self/fd' or die "descriptors: $!\\n";
for (grep { $_ > 2 && !/^[${FD.filter}${FD.info}${FD.status}]$/ } readdir $open) { open my $fd, '<&=', $_ and close $fd }
exec { $ARGV[0] } @ARGV; exit 126`;

/**
 * The command line of a launch: each program in it does one thing to itself and becomes the next. Join the control
 * groups as the server's user → lower the rlimits → give up privileges → join the session's network → close what is
 * open → build the sandbox. Both scripts are fixed and get everything as arguments.
 */
export function launchCommand(launch: Launch): string[] {
  const { programs } = launch;
  return [
    ...(launch.joinFiles.length === 0
      ? []
      : [programs.sh, '-c', JOIN_GROUPS, 'sh', String(launch.joinFiles.length), ...launch.joinFiles]),
    ...[programs.prlimit, ...rlimits(launch), '--'],
    ...asSandboxUser(programs, launch.user),
    ...[
      programs.nsenter,
      '--preserve-credentials',
      `--user=/proc/self/fd/${FD.user}`,
      `--net=/proc/self/fd/${FD.network}`,
      '--',
    ],
    ...[programs.perl, '-e', CLOSE_OTHERS, '--'],
    ...[
      programs.bwrap,
      ...launch.mounts,
      '--as-pid-1',
      '--seccomp',
      String(FD.filter),
      '--info-fd',
      String(FD.info),
      '--',
    ],
    ...launch.command,
  ];
}

function rlimits({ limits, ...launch }: Launch): string[] {
  const processes = limits.processes + (launch.user === null ? threadsOf(process.getuid?.() ?? 0) : 0);
  return [
    '--core=0',
    `--nofile=${limits.openFiles}`,
    `--fsize=${limits.fileBytes}`,
    // A second line of defence: it counts each process alone, so the tree's limit is held by the resource group.
    ...(launch.hasCpuLimit ? [`--cpu=${Math.ceil(limits.cpuMs / 1000) + 5}`] : []),
    ...(launch.limitsProcessesByRlimit ? [`--nproc=${processes}`] : []),
    ...(launch.limitsDataByRlimit ? [`--data=${limits.memoryBytes + NODE_RESERVES}`] : []),
  ];
}

/** RLIMIT_NPROC counts all threads of a user, so what the server's own user runs already is added to the limit. */
function threadsOf(uid: number): number {
  let count = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (statSync(`/proc/${name}`).uid === uid) count += readdirSync(`/proc/${name}/task`).length;
    } catch {
      // Ended meanwhile.
    }
  }
  return count;
}
