import type { Me } from '@vitto/contracts';
import type { Database } from '../kernel/database/database.ts';
import { newId } from '../kernel/ids.ts';
import { lockIdentity } from './identity-lock.store.ts';

export interface User {
  id: string;
  name: string;
  role: Me['role'];
}

/** The owner of the installation, made at the first start. Two starters at once make one. */
export async function ensureOwner(database: Database): Promise<User> {
  return (await findOwner(database)) ?? (await createOwner(database));
}

/** True for the owner of the installation, whose machine it is. */
export async function isOwner(database: Pick<Database, 'pool'>, userId: string): Promise<boolean> {
  const result = await database.pool.query("select 1 from vitto_users where id = $1 and role = 'owner'", [
    userId,
  ]);
  return result.rowCount === 1;
}

/** True for those to whom what concerns the machine and the whole installation is entrusted. */
export async function isOwnerOrAdmin(database: Pick<Database, 'pool'>, userId: string): Promise<boolean> {
  const result = await database.pool.query(
    "select 1 from vitto_users where id = $1 and role in ('owner', 'admin')",
    [userId],
  );
  return result.rowCount === 1;
}

async function findOwner(database: Pick<Database, 'pool'>): Promise<User | null> {
  const result = await database.pool.query<User>(
    "select id, name, role from vitto_users where role = 'owner' order by created_at, id limit 1",
  );
  return result.rows[0] ?? null;
}

async function createOwner(database: Database): Promise<User> {
  return lockIdentity(database, async (client) => {
    await client.query(
      `insert into vitto_users (id, name, role) select $1, 'Owner', 'owner'
       where not exists (select 1 from vitto_users where role = 'owner')`,
      [newId()],
    );
    const result = await client.query<User>(
      "select id, name, role from vitto_users where role = 'owner' order by created_at, id limit 1",
    );
    return result.rows[0] as User;
  });
}
