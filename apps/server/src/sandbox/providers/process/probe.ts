import type { GuestSession } from '@vitto/contracts';
import { findCgroupV1 } from './resources/cgroup-v1.ts';
import { findCgroupV2 } from './resources/cgroup-v2.ts';
import { watchProcessTree } from './resources/process-tree.ts';
import type { MemoryLimitKind, ResourceLimiter } from './resources/resource-group.ts';

/** Whether the process sandbox works on this machine, found by running it. */
export interface SandboxProbe {
  available: boolean;
  /** Why not; `null` when it works. */
  reason: string | null;
  /** What to install or change; `null` when it works. */
  hint: string | null;
  /** Which mechanism ended a test program that took too much memory; `null` when it does not work. */
  memoryLimit: MemoryLimitKind | null;
  /** True where a control group bounds processes, false where rlimits do. */
  limitsProcesses: boolean;
  /** Whether sessions get unprivileged users of their own, or run as the server's (unprivileged) one. */
  runsAs: 'own-user' | 'server-user';
}

/** The ways to limit memory that this machine seems to offer, best first. */
export function candidateLimiters(): ResourceLimiter[] {
  const attempt = (find: () => ResourceLimiter | null): ResourceLimiter | null => {
    try {
      return find();
    } catch {
      return null;
    }
  };
  return [attempt(findCgroupV2), attempt(findCgroupV1), watchProcessTree()].filter(
    (limiter) => limiter !== null,
  );
}

/** What a trial session must show before the sandbox counts as working; the reason why not, or `null`. */
export async function tryBasics(session: GuestSession): Promise<string | null> {
  const hello = await session.exec({ command: 'echo hello', timeoutMs: 10_000 });
  if (hello.stdout.text !== 'hello\n')
    return `a test command failed: ${hello.stderr.text.trim() || hello.exitCode}`;
  const held = await session.exec({
    command:
      "grep -q '^Seccomp:.2$' /proc/self/status && grep -q '^NoNewPrivs:.1$' /proc/self/status && ! unshare --user true",
    timeoutMs: 10_000,
  });
  if (held.exitCode !== 0) return 'the system call filter is not in force';
  const { total } = await session.listFiles({ path: '.' });
  return total === 0 ? null : 'a new home is not empty';
}

/** True when a program that takes more memory than allowed is really ended for it. */
export async function isMemoryHeld(session: GuestSession, memoryBytes: number): Promise<boolean> {
  // `tail -c` keeps all that it is asked for.
  const command = `head -c ${memoryBytes * 2} /dev/zero | tail -c ${memoryBytes * 2} >/dev/null`;
  const { limit } = await session.exec({ command, timeoutMs: 20_000 });
  return limit === 'memory';
}

/** What to do about a sandbox that does not start. */
export function hintFor(reason: string): string {
  if (reason.includes('is closed to them')) {
    return 'Keep the sandboxes in a folder that every user can reach, as /var/lib/vitto/sandboxes.';
  }
  if (
    /user ?namespace|uid map|Operation not permitted|Permission denied|No space left|namespaces/i.test(reason)
  ) {
    return (
      'Allow unprivileged user namespaces: `sysctl kernel.unprivileged_userns_clone=1` (Debian), ' +
      '`sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for bwrap (Ubuntu), ' +
      '`sysctl user.max_user_namespaces=10000`; in a container, allow them in its seccomp profile.'
    );
  }
  return 'Run `npm run vitto -- doctor` and see its sandbox section.';
}
