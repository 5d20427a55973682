import { registerSecrets } from '../../kernel/text/mask-secrets.ts';
import { assertNoRotation, readMasterKey } from './master-key.ts';
import { Vault } from './vault.ts';

/**
 * Opens the vault of this installation; the key itself is masked wherever text is.
 * @throws AppError `vault.master-key`, `vault.rotating`.
 */
export async function openVault(options: { home: string; setting: string | null }): Promise<Vault> {
  await assertNoRotation(options);
  const key = await readMasterKey(options);
  registerSecrets([key.toString('base64'), key.toString('hex')]);
  return new Vault(key);
}
