export {
  createApiToken,
  deleteApiToken,
  findApiToken,
  listApiTokens,
  type ApiToken,
  type CreatedApiToken,
} from './api-token.store.ts';
export { ensureLocalCliToken, LOCAL_CLI_TOKEN_NAME } from './local-cli-token.ts';
export { ensureOwner, isOwner, isOwnerOrAdmin, type User } from './owner.store.ts';
export { hashSecret, isSameSecret } from './secret-token.ts';
export { endSession, findSession, SESSION_DAYS, type NewSession, type Session } from './session.store.ts';
export { readSettings, updateSettings } from './settings.store.ts';
export {
  createSignInCode,
  isSignInCodeUsed,
  redeemSignInCode,
  SIGN_IN_CODE_MINUTES,
} from './sign-in-code.store.ts';
export { findUsersNamed, readUserNames } from './user-names.store.ts';
export { openVault } from './vault/open-vault.ts';
export { assertNoRotation } from './vault/master-key.ts';
export { rotateMasterKey, type Rotation } from './vault/rotate-master-key.ts';
export type { SealedTable } from './vault/sealed-table.ts';
export { IDENTITY_SEALED } from './sealed-tables.ts';
export { Vault, type Sealed } from './vault/vault.ts';
export { Secrets } from './secrets.ts';
export { DeployKeys, type OpenDeployKey } from './deploy-keys/deploy-keys.ts';
export {
  applyProviderChange,
  ModelProviders,
  type ProviderChange,
  type ProviderKey,
} from './model-providers.ts';
