import { constants, open } from 'node:fs/promises';

/**
 * Reads a whole text file, and nothing else: a pipe or a device would hold up a thread of the process or never end.
 * @throws Error for what is no regular file or has more than `maxBytes`; the system's error when it cannot be opened.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = await requireRegular(file);
    if (size > maxBytes) throw new Error(`the file has ${size} bytes; at most ${maxBytes} are read`);
    return (await file.read({ buffer: Buffer.alloc(size) })).buffer.toString('utf8');
  } finally {
    await file.close();
  }
}

/** Appends to a regular file, made with mode 600 when it is missing; a link at its end is not followed. */
export async function appendToRegularFile(path: string, text: string): Promise<void> {
  const flags =
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags, 0o600);
  try {
    await requireRegular(file);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

async function requireRegular(file: Awaited<ReturnType<typeof open>>): Promise<{ size: number }> {
  const found = await file.stat();
  if (!found.isFile()) throw new Error('it is no regular file');
  return found;
}
