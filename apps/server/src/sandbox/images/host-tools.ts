import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../kernel/app-error.ts';

/** Folders beside those of PATH: a user's PATH often lacks the second. */
const FOLDERS = ['/usr/bin', '/usr/sbin', '/bin', '/sbin', '/usr/local/bin'];

/** What building an image takes: programs, the files that prove libraries, and the Debian package of each. */
const TOOLS: readonly { needs: string; debian: string }[] = [
  { needs: 'mmdebstrap', debian: 'mmdebstrap' },
  { needs: '/usr/share/keyrings/debian-archive-keyring.gpg', debian: 'debian-archive-keyring' },
  { needs: 'dpkg-deb', debian: 'dpkg' },
  { needs: 'gcc', debian: 'gcc' },
  { needs: '/usr/include/stdio.h', debian: 'libc6-dev' },
  { needs: 'lz4', debian: 'lz4' },
  { needs: 'mke2fs', debian: 'e2fsprogs' },
  { needs: 'tar', debian: 'tar' },
  { needs: 'setpriv', debian: 'util-linux' },
  { needs: 'flock', debian: 'util-linux' },
];
const FOR_OTHERS_THAN_ROOT = [{ needs: 'newuidmap', debian: 'uidmap' }];
/** What running VMs and moving images takes. */
const QEMU = [
  { needs: 'qemu-system-x86_64', debian: 'qemu-system-x86' },
  { needs: 'qemu-img', debian: 'qemu-utils' },
];

export interface MissingTools {
  names: string[];
  /** The command that adds them. */
  command: string;
}

/** What is missing here for building images; `null` when nothing is. */
export function findMissingForBuild(isRoot: boolean): Promise<MissingTools | null> {
  return findMissing(isRoot ? TOOLS : [...TOOLS, ...FOR_OTHERS_THAN_ROOT]);
}

export function findMissingForVms(): Promise<MissingTools | null> {
  return findMissing(QEMU);
}

async function findMissing(
  tools: readonly { needs: string; debian: string }[],
): Promise<MissingTools | null> {
  const found = await Promise.all(tools.map(({ needs }) => isHere(needs)));
  const missing = tools.filter((_tool, at) => found[at] === false);
  if (missing.length === 0) return null;
  const packages = [...new Set(missing.map(({ debian }) => debian))];
  return {
    names: missing.map(({ needs }) => needs),
    command: `apt-get install --no-install-recommends ${packages.join(' ')}`,
  };
}

async function isHere(needs: string): Promise<boolean> {
  if (needs.startsWith('/')) return mayUse(needs, constants.R_OK);
  const tries = FOLDERS.map((folder) => mayUse(join(folder, needs), constants.X_OK));
  return (await Promise.all(tries)).includes(true);
}

function mayUse(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}

export function toolsMissing({ names, command }: MissingTools, what: string): AppError {
  return new AppError(
    'image.tools-missing',
    `${what} needs what is not on this machine: ${names.join(', ')}.`,
    {
      status: 503,
      hint: `As root: ${command}`,
    },
  );
}
