import { realpath, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { isOwnerOrAdmin } from '../identity/index.ts';
import { AppError } from '../kernel/app-error.ts';
import type { Database } from '../kernel/database/database.ts';
import type { RunDependencies } from '../runs/index.ts';
import { whyNotShown } from '../sandbox/index.ts';

/**
 * Folders of this machine are for the owner and admins to allow: Vitto may read more of it than each of its users.
 * What it gives throws AppError `folders.not-allowed` for others, and what `resolveAllowedPaths` throws.
 */
export function createFolderCheck(
  database: Pick<Database, 'pool'>,
  secretFolders: string[],
): RunDependencies['resolveAllowedPaths'] {
  return async (paths, userId) => {
    if (paths.length > 0 && !(await isOwnerOrAdmin(database, userId))) throw notTheirs();
    return resolveAllowedPaths(paths, secretFolders);
  };
}

/**
 * Resolves the folders that a user wants to be read. What the sandbox would never show is refused here already.
 * @throws AppError `path.not-allowed` naming the one that is no folder or must not be shown.
 */
export async function resolveAllowedPaths(paths: string[], secretFolders: string[]): Promise<string[]> {
  return Promise.all(
    paths.map(async (path) => {
      const resolved =
        isAbsolute(path) && !path.includes('\0') ? await realpath(path).catch(() => null) : null;
      const isFolder = resolved !== null && (await stat(resolved).catch(() => null))?.isDirectory() === true;
      if (resolved === null || !isFolder) throw refused(path, 'it is not an absolute path of a folder here');
      const reason = await whyNotShown(resolved, secretFolders);
      if (reason !== null) throw refused(path, reason);
      return resolved;
    }),
  );
}

function refused(path: string, why: string): AppError {
  return new AppError('path.not-allowed', `The folder ${JSON.stringify(path)} cannot be allowed: ${why}.`, {
    status: 422,
    hint: 'Name the folder of a project, for example /home/you/project.',
    errors: [{ path: 'allowedPaths', message: why }],
  });
}

function notTheirs(): AppError {
  return new AppError('folders.not-allowed', "Folders of Vitto's machine are for its owner to allow.", {
    status: 403,
    hint: 'Ask the owner or an admin of this installation, or attach the files to your message.',
    errors: [{ path: 'allowedPaths', message: 'only the owner and admins may allow folders' }],
  });
}
