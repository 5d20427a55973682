import { randomBytes } from 'node:crypto';
import { Vault } from './vault.ts';

/** A vault with a key of its own, for tests. */
export function createTestVault(): Vault {
  return new Vault(randomBytes(32));
}
