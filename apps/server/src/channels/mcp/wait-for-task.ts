import { isEndState, type EventEnvelope, type Task, type TaskState } from '@vitto/contracts';
import { notFound } from '../../kernel/app-error.ts';
import { findTask, readLastPosition, toTask } from '../../runs/index.ts';
import type { McpCall } from './mcp-tool.ts';
import { describeStep } from './step-words.ts';

/** Longest wait of one call, in seconds: clients give up after a minute. */
export const MAX_WAIT_SECONDS = 55;

const STOPS = new Set(['task.completed', 'task.failed', 'task.cancelled']);

/** A task of the viewer. @throws AppError `task.not-found`. */
export async function needTask({ deps, viewer }: McpCall, taskId: string): Promise<Task> {
  const found = await findTask(deps.runs.database.pool, viewer.userId, taskId);
  if (found === null) throw notFound('task');
  return toTask(found);
}

/**
 * A task once it has ended or waits for a person, or as it is after so many seconds. What it does meanwhile is
 * reported as progress.
 * @throws AppError `task.not-found`; the call's reason when it is taken back.
 */
export async function waitForTask(call: McpCall, taskId: string, seconds: number): Promise<Task> {
  // Read before the task: nothing that stops it later can be missed.
  const after = await readLastPosition(call.deps.runs.database.pool, call.viewer.userId);
  const task = await needTask(call, taskId);
  if (seconds === 0 || isStopped(task.state)) return task;
  const deadline = AbortSignal.timeout(seconds * 1000);
  const signal = AbortSignal.any([call.signal, deadline]);
  try {
    await followUntilStop(call, { taskId, after, signal });
  } catch (error) {
    if (!deadline.aborted || call.signal.aborted) throw error;
  }
  return needTask(call, taskId);
}

async function followUntilStop(
  call: McpCall,
  from: { taskId: string; after: number; signal: AbortSignal },
): Promise<void> {
  const { userId, credential } = call.viewer;
  for await (const events of call.deps.feed.follow({ ...from, userId, credential })) {
    for (const event of events) {
      const step = describeStep(event);
      if (step !== null) await call.reportProgress(step);
      if (isStop(event)) return;
    }
  }
}

function isStopped(state: TaskState): boolean {
  return isEndState(state) || state === 'waiting_approval' || state === 'waiting_input';
}

function isStop(event: EventEnvelope): boolean {
  if (STOPS.has(event.type)) return true;
  return event.type === 'task.parked' && event.payload['state'] !== 'waiting_children';
}
