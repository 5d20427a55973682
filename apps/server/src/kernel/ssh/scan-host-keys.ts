import ssh2 from 'ssh2';
import type { Dial } from '../network/dial.ts';
import { networkError } from '../network/network-error.ts';
import { readHostKey, SIGNATURES, type HostKey } from './host-key.ts';

const HANDSHAKE_MS = 10_000;

/**
 * The keys that a server shows now, one of each kind that it has. Who answered is not known: a person compares
 * fingerprints before any of them is trusted.
 * @throws AppError `network.…` when it cannot be reached or is no SSH server.
 */
export async function scanHostKeys(dial: Dial, host: string, port: number): Promise<HostKey[]> {
  const found: HostKey[] = [];
  for (const algorithms of [
    SIGNATURES['ssh-ed25519'],
    ['ecdsa-sha2-nistp256'],
    SIGNATURES['ssh-rsa'],
  ] as const) {
    const key = await askForKey(dial, host, port, [...algorithms]);
    if (key !== null) found.push(key);
  }
  if (found.length > 0) return found;
  throw networkError(
    'bad-response',
    `${host} answers on port ${port}, but shows no key that can be used.`,
    'It must be an SSH server with an ed25519, ECDSA or RSA key.',
  );
}

/** Begins a connection, notes the key and breaks off: nothing is signed in with. `null`: it has no such key. */
async function askForKey(
  dial: Dial,
  host: string,
  port: number,
  serverHostKey: ssh2.ServerHostKeyAlgorithm[],
): Promise<HostKey | null> {
  const sock = await dial(host, port);
  const client = new ssh2.Client();
  try {
    return await new Promise((resolve) => {
      client.on('error', () => resolve(null));
      client.on('close', () => resolve(null));
      client.connect({
        sock,
        username: 'git',
        readyTimeout: HANDSHAKE_MS,
        algorithms: { serverHostKey },
        hostVerifier: (blob: Buffer) => {
          resolve(readHostKey(Buffer.from(blob)));
          return false;
        },
      });
    });
  } finally {
    client.destroy();
    sock.destroy();
  }
}
