import type { HostPrograms } from './host-programs.ts';

/** The unprivileged user as whom a session runs; `null`: the server is unprivileged itself and runs them as itself. */
export type SandboxUser = { uid: number; gid: number } | null;

/** Numbers that neither Debian, systemd nor container managers hand out. */
export const DEFAULT_UIDS = { first: 60_800, count: 380 };

/** The beginning of a command line that gives up every privilege before it runs the rest of it. */
export function asSandboxUser(programs: HostPrograms, user: SandboxUser): string[] {
  const drop =
    user === null
      ? []
      : [
          `--reuid=${user.uid}`,
          `--regid=${user.gid}`,
          '--clear-groups',
          '--bounding-set=-all',
          '--inh-caps=-all',
        ];
  return [programs.setpriv, ...drop, '--no-new-privs', '--'];
}

/** What the server runs as decides whether it can and must change to another user. */
export function isServerRoot(): boolean {
  return process.getuid?.() === 0;
}
