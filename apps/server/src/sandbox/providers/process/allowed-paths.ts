import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { HostPrograms } from './host-programs.ts';
import { GUEST } from './mount-plan.ts';
import { asSandboxUser, type SandboxUser } from './sandbox-user.ts';

const run = promisify(execFile);

/** Folders that are never shown, nor anything in them or around them. */
const NEVER = ['/proc', '/sys', '/dev', '/etc', '/run', '/boot', '/var/run'];
/** Folders that the sandbox has its own of: they themselves cannot be shown, things in them can. */
const OWN = [
  '/',
  '/home',
  '/opt',
  '/usr',
  '/var',
  '/bin',
  '/lib',
  '/lib64',
  '/sbin',
  GUEST.home,
  GUEST.tmp,
  GUEST.runtime,
];

export interface AllowedPaths {
  /** Folders without a link on the way, safe to show. */
  shown: string[];
  refused: { path: string; reason: string }[];
}

/** A folder as it was found at its path, so that what is mounted later can be told from what was meant. */
export interface FoundFolder {
  path: string;
  device: bigint;
  inode: bigint;
}

/**
 * Which of the folders that the user allowed can be shown read-only. They were resolved when they were allowed, so one
 * that is a link by now (or has one on its way) leads elsewhere than the user meant, and is refused. `secretFolders`
 * are the server's own (its home, the sandboxes' root): neither they nor what contains them is shown.
 */
export async function resolveAllowedPaths(
  paths: string[],
  context: { programs: HostPrograms; user: SandboxUser; secretFolders: string[] },
): Promise<AllowedPaths> {
  const result: AllowedPaths = { shown: [], refused: [] };
  for (const path of new Set(paths)) {
    const reason = (await whyNotShown(path, context.secretFolders)) ?? (await whyNotReadable(path, context));
    if (reason === null) result.shown.push(path);
    else result.refused.push({ path, reason });
  }
  return result;
}

/** Why no sandbox shows this folder, whoever asks, as the rest of a sentence; `null`: nothing speaks against it. `path` is resolved. */
export async function whyNotShown(path: string, secretFolders: string[]): Promise<string | null> {
  const secret = await Promise.all(secretFolders.map((folder) => realpath(folder).catch(() => folder)));
  if ([...NEVER, ...secret].some((folder) => isWithin(path, folder)))
    return 'it holds what a sandbox must not see';
  if ([...NEVER, ...secret].some((folder) => isWithin(folder, path)))
    return 'something in it must not be seen by a sandbox';
  return OWN.includes(path) ? 'the sandbox has a folder of its own there' : null;
}

/**
 * The folder that lies at exactly this path, by one look: it is opened, and the kernel asked where what was opened
 * lies. A reason instead when it is gone, is no folder, or a link leads to it.
 */
export async function findFolder(path: string): Promise<FoundFolder | string> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    if ((await readlink(`/proc/self/fd/${handle.fd}`)) !== path) return BECAME_LINK;
    const { dev, ino } = await handle.stat({ bigint: true });
    return { path, device: dev, inode: ino };
  } catch (error) {
    return await describeRefusal(path, (error as NodeJS.ErrnoException).code);
  } finally {
    await handle?.close();
  }
}

const BECAME_LINK = 'it has become a link since it was allowed';

/** Linux says ENOTDIR for a link that was to be opened as a folder, as for a file. */
async function describeRefusal(path: string, code: string | undefined): Promise<string> {
  const resolved = await realpath(path).catch(() => null);
  if (resolved !== null && resolved !== path) return BECAME_LINK;
  if (code === 'EACCES') return "the sandbox's user may not read it";
  return code === 'ENOTDIR' && resolved !== null ? 'it is not a folder' : 'it does not exist';
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

async function whyNotReadable(
  path: string,
  { programs, user }: { programs: HostPrograms; user: SandboxUser },
): Promise<string | null> {
  const found = path.startsWith('/') ? await findFolder(path) : 'it does not exist';
  if (typeof found === 'string') return found;
  const [file = '', ...drop] = asSandboxUser(programs, user);
  for (const check of ['-r', '-x']) {
    const isAllowed = await run(file, [...drop, programs.test, check, path], { env: {}, cwd: '/' }).then(
      () => true,
      () => false,
    );
    if (!isAllowed) return "the sandbox's user may not read it";
  }
  return null;
}
