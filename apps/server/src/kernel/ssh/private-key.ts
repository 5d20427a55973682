import { createPublicKey } from 'node:crypto';
import ssh2 from 'ssh2';
import { AppError } from '../app-error.ts';

export interface KeyPair {
  /** OpenSSH or PEM, with a line end at its end. */
  privateKey: string;
  /** `type base64 comment`, to be pasted at a forge. */
  publicKey: string;
}

const COMMENT = 'vitto';
const MIN_RSA_BITS = 2048;
const GOOD_TYPES = /^(ssh-ed25519|ecdsa-sha2-nistp(256|384|521)|ssh-rsa)$/;

/** A new ed25519 key. */
export function makeKeyPair(): KeyPair {
  const made = ssh2.utils.generateKeyPairSync('ed25519', { comment: COMMENT });
  return { privateKey: withLineEnd(made.private), publicKey: made.public.trim() };
}

/**
 * Reads a private key that a person pasted.
 * @throws AppError `private-key.encrypted`, `.is-public`, `.unreadable`, `.weak`
 */
export function readKeyPair(pasted: string): KeyPair {
  const text = withLineEnd(pasted.replaceAll('\r\n', '\n').trim());
  const parsed = ssh2.utils.parseKey(text);
  // The type of the library does not say that a file may hold several keys.
  const key = Array.isArray(parsed) ? (parsed[0] as ssh2.ParsedKey) : parsed;
  if (key instanceof Error) throw /passphrase/.test(key.message) ? encrypted() : unreadable();
  if (!key.isPrivateKey()) throw isPublic();
  if (!GOOD_TYPES.test(key.type)) throw weak(`Keys of the kind ${key.type} are not taken.`);
  const bits = createPublicKey(key.getPublicPEM()).asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < MIN_RSA_BITS) throw weak(`An RSA key of ${bits} bits is too short.`);
  return { privateKey: text, publicKey: `${key.type} ${key.getPublicSSH().toString('base64')} ${COMMENT}` };
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function encrypted(): AppError {
  return refuse(
    'encrypted',
    'This key is locked with a passphrase.',
    'Tasks run when nobody is there to type it. Make a key for this repository alone, or unlock a copy of this one: ssh-keygen -p -N "" -f COPY.',
  );
}

function isPublic(): AppError {
  return refuse(
    'is-public',
    'This is the public half of a key.',
    'Give the private half: the file without .pub, which begins with "-----BEGIN".',
  );
}

function unreadable(): AppError {
  return refuse(
    'unreadable',
    'This is not a private key.',
    'Paste the whole file, with its first and last line: "-----BEGIN OPENSSH PRIVATE KEY-----" and so on.',
  );
}

function weak(message: string): AppError {
  return refuse('weak', message, 'Make a new one: ssh-keygen -t ed25519.');
}

function refuse(code: string, message: string, hint: string): AppError {
  return new AppError(`private-key.${code}`, message, { status: 422, hint });
}
