import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
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
  /** Resolved and safe to show. */
  shown: string[];
  refused: { path: string; reason: string }[];
}

/**
 * Which of the folders that the user allowed can be shown read-only. `secretFolders` are the server's own (its home,
 * the sandboxes' root): neither they nor what contains them is shown.
 */
export async function resolveAllowedPaths(
  paths: string[],
  context: { programs: HostPrograms; user: SandboxUser; secretFolders: string[] },
): Promise<AllowedPaths> {
  const result: AllowedPaths = { shown: [], refused: [] };
  const secret = await Promise.all(context.secretFolders.map((path) => realpath(path).catch(() => path)));
  for (const path of new Set(paths)) {
    const resolved = path.startsWith('/') ? await realpath(path).catch(() => null) : null;
    const reason = resolved === null ? 'it does not exist' : whyNotShown(resolved, secret);
    if (reason !== null) result.refused.push({ path, reason });
    else if (resolved !== null && (await mayRead(resolved, context))) result.shown.push(resolved);
    else result.refused.push({ path, reason: "the sandbox's user may not read it" });
  }
  return result;
}

function whyNotShown(path: string, secret: string[]): string | null {
  if ([...NEVER, ...secret].some((folder) => isWithin(path, folder)))
    return 'it holds what a sandbox must not see';
  if ([...NEVER, ...secret].some((folder) => isWithin(folder, path)))
    return 'something in it must not be seen by a sandbox';
  return OWN.includes(path) ? 'the sandbox has a folder of its own there' : null;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

async function mayRead(
  path: string,
  { programs, user }: { programs: HostPrograms; user: SandboxUser },
): Promise<boolean> {
  const isFolder = (await stat(path)).isDirectory();
  const [file = '', ...drop] = asSandboxUser(programs, user);
  const checks = ['-r', ...(isFolder ? ['-x'] : [])];
  for (const check of checks) {
    const isAllowed = await run(file, [...drop, programs.test, check, path], { env: {}, cwd: '/' }).then(
      () => true,
      () => false,
    );
    if (!isAllowed) return false;
  }
  return true;
}
