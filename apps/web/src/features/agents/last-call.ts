import { readKnownEvent, taskStepPage } from '@vitto/contracts';
import { queryOptions } from '@tanstack/react-query';
import type { ApiClient } from '../../api/client.ts';
import type { CurrentCall } from './model/live-tasks.ts';

/** What a task was doing when the page was opened; asked once, only for rows in sight. The stream tells what follows. */
export function lastCallQuery(client: ApiClient, taskId: string) {
  return queryOptions({
    queryKey: ['task', taskId, 'last-call'],
    queryFn: async ({ signal }): Promise<CurrentCall | null> => {
      const path = `/tasks/${encodeURIComponent(taskId)}/steps?order=desc&limit=1`;
      const { items } = await client.send({ path, schema: taskStepPage, signal });
      const last = items[0] === undefined ? null : readKnownEvent(items[0]);
      if (last?.type !== 'tool.starting') return null;
      return { tool: last.payload.tool, arguments: last.payload.arguments, since: last.at };
    },
    staleTime: 0,
  });
}
