import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../kernel/app-error.ts';
import { mayTraverse } from '../kernel/database/local-postgres-owner.ts';

const run = promisify(execFile);
const PREFIX = 'vitto-demo-';
const OLD_MS = 24 * 3_600_000;

export interface PlacedProject {
  /** What a task may be shown. */
  folder: string;
  remove: () => Promise<void>;
}

/**
 * Unpacks a package's tarball into a folder of its own that a sandbox's unprivileged user may read. It lies in the
 * system's folder for temporary files, since what belongs to Vitto itself is never shown to a task.
 * @throws AppError `demo.package-unsafe` for anything in it but files and folders, `demo.no-folder`.
 */
export async function placeProject(tarball: string, name: string): Promise<PlacedProject> {
  const parent = await chooseParent();
  await sweepOldProjects(parent, OLD_MS);
  const root = await mkdtemp(join(parent, PREFIX));
  const remove = () => rm(root, { recursive: true, force: true });
  try {
    const folder = join(root, name.replaceAll('/', '-'));
    await mkdir(folder);
    await unpack(tarball, folder);
    await makeReadable(folder);
    await chmod(root, 0o755);
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Removes what demos left that were killed, or whose server ran on for long. Other users' folders are let be. */
export async function sweepOldProjects(parent: string, olderThanMs: number): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const path = join(parent, name);
    const found = await lstat(path).catch(() => null);
    if (found === null || !found.isDirectory() || found.uid !== process.getuid?.()) continue;
    if (Date.now() - found.mtimeMs > olderThanMs) await rm(path, { recursive: true, force: true });
  }
}

/** As root the sandbox runs as another user, who must be able to get there; /run is never shown to a sandbox. */
async function chooseParent(): Promise<string> {
  for (const path of [tmpdir(), '/tmp', '/var/tmp']) {
    if (/^\/(?:var\/)?run(?:\/|$)/.test(path)) continue;
    const isFolder = (await stat(path).catch(() => null))?.isDirectory() === true;
    if (isFolder && (process.getuid?.() !== 0 || mayTraverse(path))) return path;
  }
  throw new AppError(
    'demo.no-folder',
    'There is no folder for temporary files that a sandbox may be shown.',
    {
      status: 503,
      hint: 'Set TMPDIR to a folder that every user may pass through, such as /tmp.',
    },
  );
}

/** The tarballs of npm hold one folder (`package`), whose name is dropped. GNU tar leaves out `..` and absolute names. */
async function unpack(tarball: string, folder: string): Promise<void> {
  const flags = ['--no-same-owner', '--no-same-permissions', '--strip-components=1'];
  try {
    await run('tar', ['-x', '-z', '-f', tarball, '-C', folder, ...flags], { timeout: 30_000 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw unsafe('there is no `tar` here to unpack it');
    throw unsafe('tar refused it');
  }
}

async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadable(path);
    else if (entry.isFile()) await chmod(path, 0o644);
    else throw unsafe(`${entry.name} is neither a file nor a folder`);
  }
}

function unsafe(why: string): AppError {
  return new AppError('demo.package-unsafe', `The demo's project cannot be unpacked: ${why}.`, {
    status: 502,
  });
}
