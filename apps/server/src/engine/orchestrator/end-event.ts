import type { EventPayload, NewEvent } from '@vitto/contracts';
import { cutMiddle } from '../../kernel/text/cut.ts';
import type { TaskRecord } from '../journal/task.store.ts';

/** What a parent's journal holds of a report, in UTF-16 units; the whole of it is the sub-Vitto's own result. */
const RESULT_MAX_LENGTH = 2_000;

/** How a sub-Vitto ended, for its parent's journal: by its row as it is now. */
export function toEndEvent(child: TaskRecord, toolsUsed: string[]): NewEvent {
  const shared = {
    id: child.id,
    duration: wallMs(child),
    toolsUsed,
    cost: child.isCostKnown ? child.costNano / 1e9 : null,
    tokens: child.tokens,
  };
  if (child.state === 'completed') {
    const result = cutMiddle(child.result ?? '', RESULT_MAX_LENGTH).text;
    const payload = { ...shared, success: child.isSuccess === true, result, iterations: child.iterations };
    return { type: 'subvitto.completed', payload };
  }
  return {
    type: 'subvitto.failed',
    payload: {
      ...shared,
      error: child.error?.message ?? 'It was stopped.',
      iteration: child.iterations,
      status: endStatus(child),
      ...(child.error === null ? {} : { code: child.error.code }),
    },
  };
}

/** From its start to its end; 0 for one that never began. */
function wallMs({ startedAt, endedAt }: TaskRecord): number {
  return startedAt === null || endedAt === null ? 0 : Math.max(0, endedAt.getTime() - startedAt.getTime());
}

/** Of a sub-Vitto that did not complete. */
export function endStatus(child: TaskRecord): NonNullable<EventPayload<'subvitto.failed'>['status']> {
  if (child.state === 'cancelled') return 'cancelled';
  return child.error?.code === 'budget.duration-exceeded' ? 'timeout' : 'failed';
}
