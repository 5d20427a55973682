import { createHash } from 'node:crypto';
import { AppError } from '../app-error.ts';

/** The public key by which a server is known. */
export interface HostKey {
  type: HostKeyType;
  blob: Buffer;
}

/** What a server of each kind of key may sign with, the best first. SHA-1 is not among it. */
export const SIGNATURES = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
} as const;
export type HostKeyType = keyof typeof SIGNATURES;

/**
 * Reads a line as known_hosts, ssh-keyscan or a `.pub` file has it: `[names] type base64 [comment]`. Names are not
 * looked at: which host the key is for, whoever gives it says.
 * @throws AppError `host-key.unreadable`
 */
export function parseHostKey(line: string): HostKey {
  const words = line.trim().split(/\s+/);
  const at = words.findIndex((word) => word in SIGNATURES);
  const [type, base64 = ''] = at === 0 || at === 1 ? words.slice(at) : [];
  if (type === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw unreadable();
  const blob = Buffer.from(base64, 'base64');
  // The key says itself of what kind it is (RFC 4253, 6.6).
  if (blob.length < 40 || typeOf(blob) !== type) throw unreadable();
  return { type: type as HostKeyType, blob };
}

export function formatHostKey({ type, blob }: HostKey): string {
  return `${type} ${blob.toString('base64')}`;
}

/** As ssh-keygen and forges show it. */
export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

/** The kind of a key that a server showed; `null` for one that is not used here. */
export function readHostKey(blob: Buffer): HostKey | null {
  const type = typeOf(blob);
  return type in SIGNATURES ? { type: type as HostKeyType, blob } : null;
}

function typeOf(blob: Buffer): string {
  if (blob.length < 4) return '';
  const length = blob.readUInt32BE(0);
  return length > 64 ? '' : blob.subarray(4, 4 + length).toString('latin1');
}

function unreadable(): AppError {
  return new AppError('host-key.unreadable', 'A host key cannot be read.', {
    status: 422,
    hint: 'Give each as `ssh-keyscan HOST` prints it: type and base64, for example "ssh-ed25519 AAAA…".',
  });
}
