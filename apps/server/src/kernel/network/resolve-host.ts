import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { bulkhead } from 'cockatiel';

/** All addresses of a name, in the order to try them. Rejects with the resolver's error. */
export type HostResolver = (hostname: string) => Promise<LookupAddress[]>;

/**
 * Node's look-ups each hold one of the four threads that file access needs too: names whose servers never answer
 * must not take them all.
 */
const lookups = bulkhead(2, 200);

/** Asks the system as every program does (hosts file, DNS). */
export const resolveHost: HostResolver = (hostname) =>
  lookups.execute(() => lookup(hostname, { all: true, order: 'verbatim' }));
