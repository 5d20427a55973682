import { closeSync, constants, createWriteStream, openSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Transform } from 'node:stream';
import { O_PATH } from './connect-socket.ts';
import type { QmpClient } from './qmp-client.ts';
import type { RunFolder } from './run-folder.ts';

/** Device states are some 100 KB; one that does not end is not written down. */
const MAX_STATE = 64 * 1024 * 1024;
const SAVE_MS = 30_000;

/**
 * Writes the state of a stopped guest's devices to a file. Memory is not in it: it lies in a file of its own.
 * QEMU may start no program and writes to nothing that it did not open, so it sends the state through a socket.
 */
export async function saveState(monitor: QmpClient, folder: RunFolder, target: string): Promise<void> {
  const { received, close } = await receiveOnce(folder, target);
  try {
    await monitor.execute('migrate-set-capabilities', { capabilities: capabilities() });
    const done = monitor.waitFor(
      (event, data) => event === 'MIGRATION' && ['completed', 'failed'].includes(data['status'] as string),
      SAVE_MS,
    );
    await monitor.execute('migrate', { uri: 'unix:../state.sock' });
    const { status } = await done.event;
    if (status !== 'completed') throw new Error('QEMU could not write the state of its devices');
    await received;
  } finally {
    close();
    received.catch(() => undefined);
  }
}

/** `x-ignore-shared`: memory in a shared file is left out. Events say when it is done. */
export function capabilities(): { capability: string; state: true }[] {
  return ['x-ignore-shared', 'events'].map((capability) => ({ capability, state: true }));
}

async function receiveOnce(
  folder: RunFolder,
  target: string,
): Promise<{ received: Promise<void>; close: () => void }> {
  const connected = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    server.close();
    connected.resolve(socket);
  });
  // Through a descriptor, for the path of a socket may be 107 bytes long at most. Closing the server removes what has
  // this path, so the descriptor stays open until then.
  const place = openSync(folder.path, O_PATH | constants.O_DIRECTORY);
  server.once('close', () => closeSync(place));
  const path = join(folder.path, 'state.sock');
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(`/proc/self/fd/${place}/state.sock`, resolve);
  });
  // Only this VM's user and the server can pass through the folder that it is in.
  await chmod(path, 0o666);
  let bytes = 0;
  const bound = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      done(bytes > MAX_STATE ? new Error('the state of its devices does not end') : null, chunk);
    },
  });
  const received = connected.promise.then((socket) =>
    pipeline(socket, bound, createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true })),
  );
  return {
    received,
    close: () => {
      server.close();
      connected.reject(new Error('QEMU did not connect'));
    },
  };
}
