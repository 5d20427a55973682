import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Paths inside the sandbox. */
export const GUEST = {
  home: '/home/user',
  tmp: '/tmp',
  runtime: '/opt/vitto',
  supervisor: '/opt/vitto/guest/supervisor.pl',
  folderCheck: '/opt/vitto/guest/check-folders.pl',
  fileServer: '/opt/vitto/guest/file-server.mjs',
  node: '/opt/vitto/bin/node',
  hostName: 'sandbox',
} as const;

export interface MountPlan {
  /** Host folders of the session. */
  home: string;
  tmp: string;
  /** Host folder with the guest's programs and its /etc. */
  runtime: string;
  nodeBinary: string;
  /** Host folders shown read-only at their own path. */
  readOnlyPaths: string[];
}

/** Read-only parts of the host's /etc that programs need and that say nothing about the host. */
const HOST_ETC = [
  'alternatives',
  'ld.so.cache',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
];
export const OWN_ETC = ['passwd', 'group', 'hosts', 'nsswitch.conf', 'host.conf'];

/** `bwrap` arguments for namespaces and the file system. The network namespace is the session's, joined before. */
export function mountArguments(plan: MountPlan): string[] {
  return [
    '--unshare-all',
    '--share-net',
    '--die-with-parent',
    '--new-session',
    ...['--uid', '1000', '--gid', '1000', '--hostname', GUEST.hostName],
    '--cap-drop',
    'ALL',
    ...systemFolders(),
    ...OWN_ETC.flatMap((name) => ['--ro-bind', join(plan.runtime, 'etc', name), `/etc/${name}`]),
    ...HOST_ETC.filter((name) => existsSync(join('/etc', name))).flatMap((name) => [
      '--ro-bind',
      `/etc/${name}`,
      `/etc/${name}`,
    ]),
    ...['--proc', '/proc', '--dev', '/dev', '--size', String(16 * 1024 * 1024), '--tmpfs', '/dev/shm'],
    ...['--remount-ro', '/dev', '--bind', plan.tmp, GUEST.tmp],
    ...['--bind', plan.home, GUEST.home],
    ...[
      '--ro-bind',
      join(plan.runtime, 'guest'),
      `${GUEST.runtime}/guest`,
      '--ro-bind',
      plan.nodeBinary,
      GUEST.node,
    ],
    ...plan.readOnlyPaths.flatMap((path) => ['--ro-bind', path, path]),
    ...['--remount-ro', '/', '--clearenv'],
    ...Object.entries(GUEST_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

const GUEST_ENVIRONMENT = {
  // The guest's own node comes last: a node of the host's /usr wins.
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/vitto/bin',
  HOME: GUEST.home,
  USER: 'user',
  LOGNAME: 'user',
  SHELL: '/bin/sh',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  TMPDIR: GUEST.tmp,
  TERM: 'dumb',
};

/** /usr read-only, and /bin, /lib … as the host has them: links into /usr, or folders of their own. */
function systemFolders(): string[] {
  const others = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].flatMap((name) => {
    const path = `/${name}`;
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind', path, path];
  });
  return ['--ro-bind', '/usr', '/usr', ...others];
}
