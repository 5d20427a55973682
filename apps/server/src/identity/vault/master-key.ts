import { randomBytes } from 'node:crypto';
import { link, open, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { AppError } from '../../kernel/app-error.ts';
import { readRegularFile } from '../../kernel/read-regular-file.ts';
import { newSecret } from '../secret-token.ts';
import { MASTER_KEY_BYTES } from './vault.ts';

const OWN_FILE = 'master.key';
const MAX_FILE_BYTES = 4096;
/** 32 random bytes have about 30 different ones; a text that somebody typed to fill the place has few. */
const FEWEST_DIFFERENT_BYTES = 12;
const MAKE_ONE = 'Make one with `openssl rand -base64 32`.';

/**
 * The master key: what `VITTO_MASTER_KEY` says (the path of a file, or the key itself in base64), else the file
 * `master.key` of the home, which the first start makes.
 * @throws AppError `vault.master-key` for a key that is none, a placeholder, or a file that others can read.
 */
export async function readMasterKey(options: { home: string; setting: string | null }): Promise<Buffer> {
  const { home, setting } = options;
  if (setting === null) return ownKey(join(home, OWN_FILE));
  if (isAbsolute(setting) && (await exists(setting))) return readKeyFile(setting, 0o007);
  if (setting.startsWith('/') && !looksLikeKey(setting)) {
    throw badKey(`VITTO_MASTER_KEY names ${setting}, which is not there.`, MAKE_ONE);
  }
  return parseKey(setting, 'VITTO_MASTER_KEY');
}

/** The file that the key lies in; `null` when the setting is the key itself. */
export async function keyFileOf(options: { home: string; setting: string | null }): Promise<string | null> {
  const { home, setting } = options;
  if (setting === null) return join(home, OWN_FILE);
  return isAbsolute(setting) && (await exists(setting)) ? setting : null;
}

/** Where the key lies that comes next, while a rotation is under way. */
export function nextKeyFile(path: string): string {
  return `${path}.next`;
}

/** @throws AppError `vault.rotating` while the master key is being changed: what is sealed now may be lost. */
export async function assertNoRotation(options: { home: string; setting: string | null }): Promise<void> {
  const path = await keyFileOf(options);
  if (path === null || !(await exists(nextKeyFile(path)))) return;
  throw new AppError('vault.rotating', 'The master key is being changed, or that was broken off.', {
    status: 503,
    hint: 'Run `vitto vault rotate` to finish it, then start again.',
  });
}

/** Makes a key in a file of its own, unless it is there; true when it was made. */
export async function ensureKeyFile(path: string): Promise<boolean> {
  if (await exists(path)) return false;
  await makeKeyFile(path);
  return true;
}

async function ownKey(path: string): Promise<Buffer> {
  if (!(await exists(path))) await makeKeyFile(path);
  return readKeyFile(path, 0o077);
}

/** The file appears whole or not at all, and the first of several starters wins: the others read what it made. */
async function makeKeyFile(path: string): Promise<void> {
  const draft = `${path}.${newSecret().slice(0, 8)}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${randomBytes(MASTER_KEY_BYTES).toString('base64')}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
}

/** `closedTo`: the permission bits that the file must not have. */
export async function readKeyFile(path: string, closedTo = 0o007): Promise<Buffer> {
  const { mode } = await stat(path);
  if ((mode & closedTo) !== 0) {
    throw badKey(
      `Others on this machine can read the master key in ${path}.`,
      `Run \`chmod 600 ${path}\`. If others may have read it, make a new key and enter the secrets again.`,
    );
  }
  let content: string;
  try {
    content = await readRegularFile(path, MAX_FILE_BYTES);
  } catch (error) {
    throw badKey(`The master key in ${path} cannot be read.`, 'Check the file and who owns it.', error);
  }
  return parseKey(content.trim(), path);
}

function parseKey(text: string, where: string): Buffer {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) {
    throw badKey(`${where} is neither 32 bytes in base64 nor the absolute path of a file.`, MAKE_ONE);
  }
  const key = Buffer.from(text, 'base64');
  if (key.length !== MASTER_KEY_BYTES) {
    throw badKey(`${where} holds ${key.length} bytes; a master key has ${MASTER_KEY_BYTES}.`, MAKE_ONE);
  }
  if (new Set(key).size < FEWEST_DIFFERENT_BYTES) {
    throw badKey(`${where} looks like a placeholder, not like a random key.`, MAKE_ONE);
  }
  return key;
}

function looksLikeKey(text: string): boolean {
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );
}

function badKey(message: string, hint: string, cause?: unknown): AppError {
  return new AppError('vault.master-key', message, { status: 500, hint, cause });
}
