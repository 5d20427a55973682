import { placeOfDeployKey } from './deploy-keys/deploy-keys.ts';
import { placeOf as placeOfProvider } from './model-providers.ts';
import { placeOf as placeOfSecret } from './secrets.ts';
import type { SealedTable } from './vault/sealed-table.ts';

/** All that this feature keeps sealed. */
export const IDENTITY_SEALED: readonly SealedTable[] = [
  {
    table: 'vitto_secrets',
    column: 'sealed',
    key: ['user_id', 'name'],
    placeOf: ({ user_id = '', name = '' }) => placeOfSecret(user_id, name),
  },
  {
    table: 'vitto_deploy_keys',
    column: 'sealed',
    key: ['id'],
    more: ['user_id'],
    placeOf: ({ id = '', user_id = '' }) => placeOfDeployKey(user_id, id),
  },
  {
    table: 'vitto_model_providers',
    column: 'sealed',
    key: ['name'],
    placeOf: ({ name = '' }) => placeOfProvider(name),
  },
];
