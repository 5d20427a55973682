import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { AppError } from '../../kernel/app-error.ts';

/** A value as it is stored. `keyId` names the master key that opens it, so that keys can be changed one value at a time. */
export interface Sealed {
  keyId: string;
  /** Version (1 byte), nonce (12), ciphertext, tag (16). */
  sealed: Buffer;
}

export const MASTER_KEY_BYTES = 32;
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/**
 * Seals values with the master key (AES-256-GCM, a fresh nonce a value). The associated data says what a value
 * belongs to (`secret:USER:NAME`): a sealed value that was moved to another row does not open there.
 */
export class Vault {
  readonly #key: Buffer;
  readonly keyId: string;

  constructor(masterKey: Buffer) {
    if (masterKey.length !== MASTER_KEY_BYTES) throw new Error('a master key has 32 bytes');
    this.#key = masterKey;
    // The hash of 256 random bits tells nothing of them.
    this.keyId = createHash('sha256').update('vitto master key').update(masterKey).digest('hex').slice(0, 16);
  }

  seal(plaintext: string, associatedData: string): Sealed {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(boundTo(associatedData));
    const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return {
      keyId: this.keyId,
      sealed: Buffer.concat([Buffer.of(VERSION), nonce, body, cipher.getAuthTag()]),
    };
  }

  /**
   * @throws AppError `vault.wrong-key` when another master key sealed the value; `vault.damaged` when the value was
   *   changed, cut or moved.
   */
  open({ keyId, sealed }: Sealed, associatedData: string): string {
    if (keyId !== this.keyId) throw wrongKey(keyId, this.keyId);
    if (sealed[0] !== VERSION || sealed.length < 1 + NONCE_BYTES + TAG_BYTES) throw damaged();
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(associatedData));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    try {
      const body = sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    } catch (error) {
      throw damaged(error);
    }
  }
}

function boundTo(associatedData: string): Buffer {
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(associatedData, 'utf8')]);
}

function wrongKey(sealedWith: string, ours: string): AppError {
  return new AppError(
    'vault.wrong-key',
    `This value was sealed with the master key ${sealedWith}; this process has ${ours}.`,
    {
      status: 503,
      hint: 'Start every process of the installation with the same VITTO_MASTER_KEY (or the same master.key in VITTO_HOME). When that key is lost, enter the value again.',
    },
  );
}

function damaged(cause?: unknown): AppError {
  return new AppError('vault.damaged', 'A sealed value was changed or does not belong where it stands.', {
    status: 503,
    hint: 'Enter the value again.',
    cause,
  });
}
