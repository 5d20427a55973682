import { GuestError } from '@vitto/contracts';
import { askedPath } from '../asked-path.ts';
import { assertPlainPath } from '../command-checks.ts';
import { toBytes, toPath } from '../odd-names.ts';

export interface GuestPath {
  /** As the guest is told it. Links are the guest's to follow: its own file system is the boundary. */
  absolute: Buffer;
  /** Tidied, for names in replies; a byte string. */
  asked: string;
}

/** @throws GuestError `bad-path` for what can be no path. */
export function guestPath(text: string, home: string): GuestPath {
  assertPlainPath(text);
  const bytes = toBytes(text);
  if (bytes.includes('\0')) throw new GuestError('bad-path', 'The path holds a NUL byte.');
  if (bytes.length > 4000) throw new GuestError('bad-path', 'The path is too long.');
  const byteHome = toBytes(home);
  return {
    absolute: toPath(bytes.startsWith('/') ? bytes : `${byteHome}/${bytes}`),
    asked: askedPath(bytes, byteHome),
  };
}
