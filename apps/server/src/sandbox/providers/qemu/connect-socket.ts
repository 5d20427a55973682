import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Of Linux; Node.js does not name it. Opens a place in the file system, not what is there. */
export const O_PATH = 0o10000000;

/** QEMU takes one process at a time and lets one more wait. Of those before, it notices that they have gone a little later. */
const QUEUE_MS = 30_000;
const LOOK_AGAIN_MS = 10;

/**
 * Connects to a socket that a VM's user made in its folder. That user may have put a link there, or another's socket:
 * only a socket of its own is taken. Through the descriptor, so that what was checked is what is connected to, and the
 * path may be longer than the 107 bytes of a socket's address.
 */
export async function connectSocket(path: string, owner: number): Promise<Socket> {
  const place = openSync(path, O_PATH | constants.O_NOFOLLOW);
  const deadline = performance.now() + QUEUE_MS;
  try {
    const found = fstatSync(place);
    if (!found.isSocket() || found.uid !== owner) throw new Error(`${path} is not a socket of its VM`);
    for (;;) {
      try {
        return await connectOnce(`/proc/self/fd/${place}`);
      } catch (error) {
        const isFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (!isFull || performance.now() > deadline) throw error;
        await sleep(LOOK_AGAIN_MS);
      }
    }
  } finally {
    closeSync(place);
  }
}

function connectOnce(path: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ path });
  socket.once('connect', () => resolve(socket));
  socket.once('error', reject);
  return promise;
}
