import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { getuid } from 'node:process';
import { describeError } from '../../kernel/app-error.ts';
import type { FoundFolder } from '../providers/process/allowed-paths.ts';

/** What of a folder is copied into a VM at most, and how many files. */
export const COPY_MAX_BYTES = 64 * 1024 * 1024;
export const COPY_MAX_FILES = 20_000;

/** Made by tools from the rest of a project: left out where a folder would be too large with them. */
const MADE = ['node_modules', '.venv', 'venv', '__pycache__', 'target', '.next', '.gradle'];
/** As root, files that only their owner may read stay out, as in the process sandbox. */
const NOBODY = 65_534;

export type PackedFolder = { tar: Buffer; leftOut: string[] } | { reason: string };

/** A folder of the host as a tar: links as links, nothing of other file systems, `.git` included. */
export async function packFolder(folder: FoundFolder, signal: AbortSignal): Promise<PackedFolder> {
  const whole = await runTar(folder, [], signal);
  if ('reason' in whole) return whole;
  if (!whole.isTooLarge) return { tar: whole.tar, leftOut: whole.unreadable };
  const part = await runTar(folder, MADE, signal);
  if ('reason' in part) return part;
  if (part.isTooLarge) {
    return {
      reason: `it has more than ${COPY_MAX_BYTES / 1024 / 1024} MiB or ${COPY_MAX_FILES} files; allow a smaller folder`,
    };
  }
  return {
    tar: part.tar,
    leftOut: [`${MADE.join(', ')} (too large; install them in the VM)`, ...part.unreadable],
  };
}

async function runTar(
  folder: FoundFolder,
  excluded: readonly string[],
  signal: AbortSignal,
): Promise<{ tar: Buffer; isTooLarge: boolean; unreadable: string[] } | { reason: string }> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(folder.path, flags).catch(() => null);
  if (handle === null) return { reason: 'it does not exist' };
  try {
    const { dev, ino } = await handle.stat({ bigint: true });
    if (dev !== folder.device || ino !== folder.inode) return { reason: 'it was exchanged just now' };
    return await collectTar(`/proc/${process.pid}/fd/${handle.fd}`, excluded, signal);
  } finally {
    await handle.close();
  }
}

async function collectTar(
  cwd: string,
  excluded: readonly string[],
  signal: AbortSignal,
): Promise<{ tar: Buffer; isTooLarge: boolean; unreadable: string[] } | { reason: string }> {
  const args = ['--create', '--file=-', '--verbose', '--sort=name', '--one-file-system', '--numeric-owner'];
  args.push('--owner=1000', '--group=1000', '--ignore-failed-read', '--warning=no-file-changed');
  for (const name of excluded) args.push(`--exclude=${name}`);
  const child = spawn('tar', [...args, '.'], {
    cwd,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    ...(getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  let files = 0;
  let errors = '';
  const stopWhenFull = () => {
    if (bytes > COPY_MAX_BYTES || files > COPY_MAX_FILES) child.kill('SIGKILL');
  };
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= COPY_MAX_BYTES) chunks.push(chunk);
    stopWhenFull();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    files += text.split('\n').filter((line) => line !== '' && !line.startsWith('tar: ')).length;
    if (errors.length < 100_000) errors += text;
    stopWhenFull();
  });
  const outcome = await once(child, 'close').then(
    ([code]) => code as number | null,
    (error: unknown) => describeError(error),
  );
  signal.throwIfAborted();
  if (typeof outcome === 'string') return { reason: `it could not be packed: ${outcome}` };
  if (files === 0) return { reason: "the sandbox's user may not read it" };
  const isTooLarge = bytes > COPY_MAX_BYTES || files > COPY_MAX_FILES;
  if (!isTooLarge && outcome !== 0 && outcome !== 1)
    return { reason: `it could not be packed (tar: ${outcome})` };
  return { tar: Buffer.concat(chunks), isTooLarge, unreadable: listUnreadable(errors) };
}

function listUnreadable(errors: string): string[] {
  const count = errors.split('\n').filter((line) => /^tar: .*Permission denied/.test(line)).length;
  if (count === 0) return [];
  return [
    count === 1
      ? 'one entry that only its owner may read'
      : `${count} entries that only their owner may read`,
  ];
}
