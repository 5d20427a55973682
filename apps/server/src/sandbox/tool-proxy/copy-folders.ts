import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { GuestError, type GuestSession } from '@vitto/contracts';
import { z } from 'zod';
import { newId } from '../../kernel/ids.ts';
import { findFolder, whyNotShown } from '../providers/process/allowed-paths.ts';
import { packFolder } from './pack-folder.ts';

export interface CopyFoldersContext {
  taskId: string;
  secretFolders: string[];
  signal: AbortSignal;
}

const WORK = '/home/user/work';
/** What was copied from where, kept in the machine beside the copies: they belong together. */
const LIST = `${WORK}/.copies.json`;
const PART_BYTES = 4 * 1024 * 1024;
const UNPACK_MS = 300_000;
const UNPACK =
  'set -e; rm -rf "$NEW"; mkdir -p "$NEW"; cat "$PARTS"/* | tar -xf - -C "$NEW" --no-same-owner; rm -rf "$PARTS"; mv -T "$NEW" "$TARGET"';

/** People name a folder by its path on the host: in the machine that leads to the copy, unless something is there. */
const LINK =
  '{ [ ! -e "$SOURCE" ] || [ -L "$SOURCE" ]; } && sudo -n mkdir -p "$(dirname "$SOURCE")" && sudo -n ln -sfn "$TARGET" "$SOURCE"';
const LINK_MS = 30_000;

const copies = z.record(
  z.string(),
  z.object({ source: z.string(), sha256: z.string(), taskId: z.string(), leftOut: z.array(z.string()) }),
);
type Copies = z.infer<typeof copies>;

/**
 * Copies the host folders that the user allows into a machine: a VM has none of the host's. A copy that is there from
 * this task, or from an earlier one while the folder has not changed since, is used as it is, with what was done in it;
 * else a new one is made beside it. Gives where they are, and why one is not there, a sentence each.
 * @throws GuestError `session-lost`.
 */
export async function copyFolders(
  guest: GuestSession,
  paths: readonly string[],
  context: CopyFoldersContext,
): Promise<string[]> {
  if (paths.length === 0) return [];
  const known = await readList(guest, context.signal);
  const notices: string[] = [];
  for (const path of new Set(paths)) notices.push(await copyFolder(guest, path, known, context));
  return notices;
}

async function copyFolder(
  guest: GuestSession,
  path: string,
  known: Copies,
  context: CopyFoldersContext,
): Promise<string> {
  const own = Object.entries(known).find(
    ([, copy]) => copy.source === path && copy.taskId === context.taskId,
  );
  if (own !== undefined) {
    return place(
      guest,
      path,
      { name: own[0], leftOut: own[1].leftOut, state: 'as this task left it' },
      context,
    );
  }
  const refusal = (await whyNotShown(path, context.secretFolders)) ?? (await findFolder(path));
  if (typeof refusal === 'string') return `Not copied into the VM: ${path}: ${refusal}.`;
  const packed = await packFolder(refusal, context.signal);
  if ('reason' in packed) return `Not copied into the VM: ${path}: ${packed.reason}.`;
  const sha256 = createHash('sha256').update(packed.tar).digest('hex');
  const { leftOut } = packed;
  const same = Object.entries(known).find(([, copy]) => copy.source === path && copy.sha256 === sha256);
  if (same !== undefined) {
    const state = 'from an earlier task, with what was changed in it';
    return place(guest, path, { name: same[0], leftOut, state }, context);
  }
  const name = freeName(path, known);
  try {
    await unpack(guest, packed.tar, `${WORK}/${name}`, context.signal);
    known[name] = { source: path, sha256, taskId: context.taskId, leftOut };
    await guest.writeFile({
      path: LIST,
      content: JSON.stringify(known),
      encoding: 'utf8',
      signal: context.signal,
    });
  } catch (error) {
    if (!(error instanceof GuestError) || error.code === 'session-lost') throw error;
    return `Not copied into the VM: ${path}: ${error.message}.`;
  }
  return place(guest, path, { name, leftOut, state: 'as it is now' }, context);
}

/** Has the host's path lead to a copy, and says where it is. */
async function place(
  guest: GuestSession,
  path: string,
  copy: { name: string; leftOut: string[]; state: string },
  { signal }: CopyFoldersContext,
): Promise<string> {
  const target = `${WORK}/${copy.name}`;
  const env = { SOURCE: path, TARGET: target };
  const { exitCode } = await guest.exec({ command: LINK, cwd: '/', env, timeoutMs: LINK_MS, signal });
  const alsoThere = exitCode === 0 ? ', and its path leads there' : '';
  const without = copy.leftOut.length === 0 ? '' : ` Left out: ${copy.leftOut.join(', ')}.`;
  return `A copy of ${path} is in ${target}${alsoThere} (${copy.state}); changes stay in the VM.${without}`;
}

async function unpack(guest: GuestSession, tar: Buffer, target: string, signal: AbortSignal): Promise<void> {
  const parts = `${WORK}/.parts-${newId()}`;
  for (let at = 0, index = 0; at < tar.length; at += PART_BYTES, index += 1) {
    await guest.writeFile({
      path: `${parts}/${String(index).padStart(4, '0')}`,
      content: tar.subarray(at, at + PART_BYTES).toString('base64'),
      encoding: 'base64',
      signal,
    });
  }
  const env = { PARTS: parts, NEW: `${target}.new`, TARGET: target };
  const { exitCode, stderr } = await guest.exec({
    command: UNPACK,
    cwd: '/',
    env,
    timeoutMs: UNPACK_MS,
    signal,
  });
  if (exitCode !== 0) throw new GuestError('no-space', stderr.text.trim() || 'it could not be unpacked');
}

async function readList(guest: GuestSession, signal: AbortSignal): Promise<Copies> {
  try {
    const { content } = await guest.readFile({ path: LIST, encoding: 'utf8', signal });
    // The guest may have written anything there.
    return copies.safeParse(JSON.parse(content)).data ?? {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    if (error instanceof GuestError && error.code !== 'session-lost') return {};
    throw error;
  }
}

/** A plain name in the machine: nothing of the host's path but letters that need no quoting. */
function freeName(path: string, known: Copies): string {
  const plain =
    basename(path)
      .replaceAll(/[^\w.-]/g, '_')
      .replace(/^[.-]+/, '')
      .slice(0, 60) || 'folder';
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? plain : `${plain}-${n}`;
    if (!Object.hasOwn(known, name)) return name;
  }
}
