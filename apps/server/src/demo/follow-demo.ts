import { readKnownEvent, type EventEnvelope } from '@vitto/contracts';
import type { DemoClient } from './demo-client.ts';

/**
 * Follows a task, and every sub-Vitto that its journal names, to their ends.
 * @returns the events of all their journals, in the order in which they were written.
 */
export async function followDemo(
  client: Pick<DemoClient, 'followTask'>,
  rootId: string,
  { signal, hear }: { signal: AbortSignal; hear: (event: EventEnvelope) => void },
): Promise<EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  const follow = async (taskId: string): Promise<void> => {
    const below: Promise<void>[] = [];
    for await (const envelope of client.followTask(taskId, signal)) {
      events.push(envelope);
      hear(envelope);
      const event = readKnownEvent(envelope);
      if (event?.type !== 'subvitto.spawned') continue;
      const one = follow(event.payload.id);
      // It may fail long before it is waited for, which is no defect of its own.
      one.catch(() => undefined);
      below.push(one);
    }
    await Promise.all(below);
  };
  await follow(rootId);
  return events.toSorted((a, b) => a.position - b.position);
}
