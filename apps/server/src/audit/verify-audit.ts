import { createHash } from 'node:crypto';
import type { AuditBreak, AuditVerification } from '@vitto/contracts';
import type { Database } from '../kernel/database/database.ts';
import { inTransaction } from '../kernel/database/transaction.ts';
import { readChain, readChainHead, type ChainLink } from './audit-chain.store.ts';

/** What the first entry follows. */
const BEGINNING = Buffer.alloc(32);

/**
 * Goes over the whole audit trail and computes every hash anew, without the database's own function. One snapshot is
 * read, so that entries written meanwhile are no break; a thousand entries are in memory at a time.
 */
export function verifyAudit(database: Database): Promise<AuditVerification> {
  return inTransaction(database, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only');
    const head = await readChainHead(client);
    const broken = (brokenAt: number, reason: AuditBreak, entries: number): AuditVerification => ({
      isIntact: false,
      entries,
      brokenAt,
      reason,
      lastHash: head.hash.toString('hex'),
    });
    let last = 0;
    let previous: Buffer = BEGINNING;
    for await (const link of readChain(client)) {
      const seq = Number(link.seq);
      if (seq > head.seq) return broken(seq, 'added', last);
      if (seq !== last + 1) return broken(last + 1, 'missing', last);
      if (!hashLink(previous, link).equals(link.hash)) return broken(seq, 'changed', last);
      previous = link.hash;
      last = seq;
    }
    if (last < head.seq) return broken(last + 1, 'end-missing', last);
    if (!previous.equals(head.hash)) return broken(last, 'changed', last);
    return {
      isIntact: true,
      entries: last,
      brokenAt: null,
      reason: null,
      lastHash: last === 0 ? null : head.hash.toString('hex'),
    };
  });
}

/** The same bytes as the SQL function `vitto_audit_bytes` makes. */
function hashLink(previous: Buffer, link: ChainLink): Buffer {
  const bytes = link.fields
    .map((field) => (field === null ? '-' : `${Buffer.byteLength(field)}:${field}`))
    .join(',');
  return createHash('sha256').update(previous).update(bytes).digest();
}
