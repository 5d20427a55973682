import type { Task } from '@vitto/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { taskQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { applyToTask } from '../agents/model/apply-to-task.ts';

/** A task, asked for once and then kept true by its events. */
export function useLiveTask(id: string) {
  const { api, stream } = useVitto();
  const queries = useQueryClient();
  const options = taskQuery(api, id);
  useEffect(
    () =>
      stream.subscribe({
        onEvents: (events) => {
          for (const event of events) {
            if (event.taskId !== id) continue;
            queries.setQueryData<Task>(['task', id], (task) => task && applyToTask(task, event));
          }
        },
        onResync: () => {},
      }),
    [stream, queries, id],
  );
  return useQuery({ ...options, staleTime: 0 });
}
