import type { NewEvent } from '@vitto/contracts';
import type { Sql } from '../kernel/database/database.ts';

/** What the journal must still say of a VM whose task ends from outside: its claim goes with the task. Empty without one. */
export async function releaseHeldVm(sql: Sql, taskId: string): Promise<NewEvent[]> {
  const result = await sql.query(
    `select type, payload->>'vmId' as "vmId" from vitto_task_events
     where task_id = $1 and type in ('vm.acquired', 'vm.released', 'vm.lost') order by seq desc limit 1`,
    [taskId],
  );
  const last = result.rows[0] as { type: string; vmId: string } | undefined;
  return last?.type === 'vm.acquired' ? [{ type: 'vm.released', payload: { vmId: last.vmId } }] : [];
}
