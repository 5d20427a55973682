import { page, task, type Task } from '@vitto/contracts';
import type { ApiClient } from '../../api/client.ts';

const taskPage = page(task);
const LIMIT = 200;
/** More than that is not a page that anybody reads. */
const MOST_PAGES = 10;

/**
 * A root task and all below it, newest first, at most 2,000.
 *
 * @throws ApiError
 */
export async function readFamily(client: ApiClient, rootId: string, signal: AbortSignal): Promise<Task[]> {
  const tasks: Task[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const query = new URLSearchParams({
      rootId,
      limit: String(LIMIT),
      ...(cursor === null ? {} : { cursor }),
    });
    const found: { items: Task[]; nextCursor: string | null } = await client.send({
      path: `/tasks?${query}`,
      schema: taskPage,
      signal,
    });
    tasks.push(...found.items);
    cursor = found.nextCursor;
    if (cursor === null) break;
  }
  return tasks;
}

/** Whether others work, or have worked, for a task or beside it. */
export function hasFamily(task: Task): boolean {
  return task.depth > 0 || hasDeployed(task);
}

/** Whether others work, or have worked, for a task. */
export function hasDeployed(task: Task): boolean {
  return task.spentBelow.tokens > 0 || task.waitingFor?.kind === 'children';
}
