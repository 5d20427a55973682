import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

/** Of Linux; Node.js does not name it. Opens a place in the file system, not what is there. */
export const O_PATH = 0o10000000;

/**
 * Connects to a socket that a VM's user made in its folder. That user may have put a link there, or another's socket:
 * only a socket of its own is taken. Through the descriptor, so that what was checked is what is connected to, and the
 * path may be longer than the 107 bytes of a socket's address.
 */
export function connectSocket(path: string, owner: number): Promise<Socket> {
  const place = openSync(path, O_PATH | constants.O_NOFOLLOW);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  try {
    const found = fstatSync(place);
    if (!found.isSocket() || found.uid !== owner) throw new Error(`${path} is not a socket of its VM`);
    const socket = connect({ path: `/proc/self/fd/${place}` });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
    void promise.then(
      () => closeSync(place),
      () => closeSync(place),
    );
  } catch (error) {
    closeSync(place);
    reject(error);
  }
  return promise;
}
