import type { Database } from '../../kernel/database/database.ts';
import { inTransaction } from '../../kernel/database/transaction.ts';
import { ALIVE_SECONDS } from './machine.store.ts';

export interface HostFacts {
  id: string;
  name: string;
  url: string | null;
  /** Unique a process start. */
  holder: string;
  provider: string;
  capacity: number;
}

/**
 * Makes this process the one that speaks for the host, and takes over the leases of the one before. `isKnown`: the
 * database knows the host from earlier, so that it also knows its machines.
 */
export async function joinHost(database: Database, host: HostFacts): Promise<{ isKnown: boolean }> {
  return inTransaction(database, async (client) => {
    const known = await client.query('select 1 from vitto_sandbox_hosts where id = $1 for update', [host.id]);
    await client.query(
      `insert into vitto_sandbox_hosts (id, name, url, holder, heartbeat_at, provider, capacity)
       values ($1, $2, $3, $4, clock_timestamp(), $5, $6)
       on conflict (id) do update set name = excluded.name, url = excluded.url, holder = excluded.holder,
         heartbeat_at = excluded.heartbeat_at, provider = excluded.provider, capacity = excluded.capacity, running = 0, waiting = 0`,
      [host.id, host.name, host.url, host.holder, host.provider, host.capacity],
    );
    await client.query(
      `update vitto_vm_sessions set lease_holder = $2, fence = fence + 1,
         lease_until = clock_timestamp() + make_interval(secs => ${ALIVE_SECONDS})
       where host_id = $1 and vm_id is not null`,
      [host.id, host.holder],
    );
    return { isKnown: known.rowCount !== 0 };
  });
}

/** A sign of life of the host. False: another process speaks for it now. */
export async function beatHost(
  database: Database,
  beat: { id: string; holder: string; accelerator: string | null; running: number; waiting: number },
): Promise<boolean> {
  const result = await database.pool.query(
    `update vitto_sandbox_hosts set heartbeat_at = clock_timestamp(), running = $3, waiting = $4,
       accelerator = $5
     where id = $1 and holder = $2`,
    [beat.id, beat.holder, beat.running, beat.waiting, beat.accelerator],
  );
  return result.rowCount !== 0;
}

/** Renews the leases of this process's VMs, and gives the sessions that it still holds. */
export async function renewLeases(
  database: Database,
  holder: string,
  hardLifetimeMs: number,
): Promise<{ id: string; isOld: boolean }[]> {
  const result = await database.pool.query(
    `update vitto_vm_sessions set lease_until = clock_timestamp() + make_interval(secs => ${ALIVE_SECONDS})
     where lease_holder = $1
     returning id, coalesce(state = 'running' and started_at < clock_timestamp() - make_interval(secs => $2::float8 / 1000),
       false) as "isOld"`,
    [holder, hardLifetimeMs],
  );
  return result.rows as { id: string; isOld: boolean }[];
}
