// The writer of the stream bench: appends events to the journal at a steady rate, as the owners of running tasks do.
import { appendEvents } from '../apps/server/src/engine/journal/journal.store.ts';
import { openDatabase } from '../apps/server/src/kernel/database/database.ts';
import { silentLogger } from '../apps/server/src/kernel/logger.ts';
import { SignalBus } from '../apps/server/src/kernel/signal-bus.ts';
import { serveCalls } from './child-calls.ts';
import { machineMs } from './monotonic.ts';
import type { BenchTask } from './stream-scenario.ts';

export interface WriteRequest {
  databaseUrl: string;
  tasks: BenchTask[];
  perSecond: number;
  seconds: number;
}
export interface Written {
  events: number;
  seconds: number;
  /** From the call to the commit, in milliseconds. */
  appendMs: number[];
}

const calls = { write };
export type StreamWriterCalls = typeof calls;
serveCalls(calls);

/** Writes round robin to the tasks. An event carries the time just before its write begins. */
async function write(request: WriteRequest): Promise<Written> {
  const { databaseUrl, tasks, perSecond, seconds } = request;
  const database = openDatabase({ url: databaseUrl, applicationName: 'vitto-bench-writer' });
  const publish = (text: string, values: unknown[]) => database.pool.query(text, values);
  const signals = new SignalBus({ url: databaseUrl, publish, logger: silentLogger });
  await signals.start();
  const appendMs: number[] = [];
  const started = machineMs();
  const total = perSecond * seconds;
  const open = new Set<Promise<void>>();
  try {
    for (let count = 0; count < total; count += 1) {
      const due = started + (count * 1000) / perSecond;
      const wait = due - machineMs();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const task = tasks[count % tasks.length] as BenchTask;
      const appended = append(task).finally(() => open.delete(appended));
      open.add(appended);
    }
    await Promise.all(open);
    const took = (machineMs() - started) / 1000;
    // The last signals wait a moment for company.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { events: total, seconds: took, appendMs };
  } finally {
    await signals.stop();
    await database.pool.end();
  }

  async function append(task: BenchTask): Promise<void> {
    const sentAt = machineMs();
    const payload = {
      turn: 1,
      attempt: 1,
      delta: 'and so the answer goes on, a few words at a time ',
      sentAt,
    };
    await appendEvents(database.pool, {
      taskId: task.taskId,
      fence: task.fence,
      events: [{ type: 'agent.text', payload }],
    });
    appendMs.push(machineMs() - sentAt);
    signals.journalGrew(task.userId);
  }
}
