import { AppError } from '../../kernel/app-error.ts';
import type { Database } from '../../kernel/database/database.ts';
import { inTransaction } from '../../kernel/database/transaction.ts';
import { lockSealedRows, writeSealed } from './rotation.store.ts';
import type { SealedTable } from './sealed-table.ts';
import type { Vault } from './vault.ts';

export interface Resealed {
  values: number;
  /** Values that the older key does not open: they were lost before. */
  unreadable: number;
}

const BATCH = 100;

/**
 * Seals every value with the newer key that the older one opens, a batch a transaction. Each row names its key, so
 * that after a break the next run goes on where this one ended.
 */
export async function resealAll(
  database: Database,
  tables: readonly SealedTable[],
  older: Vault,
  newer: Vault,
): Promise<Resealed> {
  const sum = { values: 0, unreadable: 0 };
  for (const table of tables) {
    let after: string[] | null = null;
    do {
      after = await inTransaction(database, async (client) => {
        const rows = await lockSealedRows(client, table, newer.keyId, after, BATCH);
        for (const { row, ...value } of rows) {
          const place = table.placeOf(row);
          const text = openOrNull(older, value, place);
          if (text === null) sum.unreadable++;
          else {
            await writeSealed(client, table, row, newer.seal(text, place));
            sum.values++;
          }
        }
        const last = rows.at(-1)?.row;
        return last === undefined ? null : table.key.map((column) => last[column] ?? '');
      });
    } while (after !== null);
  }
  return sum;
}

function openOrNull(vault: Vault, value: Parameters<Vault['open']>[0], place: string): string | null {
  try {
    return vault.open(value, place);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
