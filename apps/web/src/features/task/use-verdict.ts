import { outcome, page, type Outcome } from '@vitto/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { toApiError } from '../../api/api-error.ts';
import { useVitto } from '../../api/vitto-context.tsx';

const outcomePage = page(outcome);
/** A worker reports an end within a second or two; one that takes longer shows at the next look at the page. */
const LOOKS = 10;
const LOOK_EVERY_MS = 1_000;

/** What became of a task that has ended (`null` until that is reported), and a way to say whether it was right. */
export function useVerdict(taskId: string) {
  const { client } = useVitto();
  const queries = useQueryClient();
  const queryKey = ['outcome', taskId];
  const path = encodeURIComponent(taskId);
  const query = useQuery({
    queryKey,
    queryFn: async () => {
      const found = await client.send({ path: `/outcomes?taskId=${path}&limit=1`, schema: outcomePage });
      return found.items[0] ?? null;
    },
    staleTime: 0,
    refetchInterval: ({ state }) =>
      state.data === null && state.dataUpdateCount < LOOKS ? LOOK_EVERY_MS : false,
  });
  const giving = useMutation({
    mutationFn: async (success: boolean) => {
      // An answer that is still on its way would put back what was before.
      await queries.cancelQueries({ queryKey });
      return client.send({
        method: 'PUT',
        path: `/tasks/${path}/verdict`,
        body: { success },
        schema: outcome,
      });
    },
    onSuccess: (given) => queries.setQueryData<Outcome | null>(queryKey, given),
  });
  return {
    outcome: query.data ?? null,
    give: (success: boolean) => giving.mutate(success),
    isBusy: giving.isPending,
    error: giving.error === null ? null : toApiError(giving.error),
  };
}
