import { sandboxOverview } from '@vitto/contracts';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import type { ApiClient } from '../../../api/client.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { useAction, type Action } from '../../settings/use-action.ts';

export type MachineAct = 'snapshot' | 'destroy' | 'forget';

const nothing = z.unknown();
export const MACHINES_KEY = ['machines'] as const;
/** What changes a machine sooner than the next look would show. */
export const MACHINE_EVENTS: ReadonlySet<string> = new Set(['vm.acquired', 'vm.released', 'vm.lost']);

export function machinesQuery(client: ApiClient) {
  return queryOptions({
    queryKey: MACHINES_KEY,
    queryFn: () => client.send({ path: '/sandbox', schema: sandboxOverview }),
    staleTime: 0,
  });
}

/** Something done to one machine, after which what there is is read anew. */
export function useMachineAct(id: string): Action<[MachineAct], unknown> {
  const act = useChange();
  return useAction((key: string, what: MachineAct) => act(`/sandbox/${encodeURIComponent(id)}/${what}`, key));
}

export function useImageBuild(name: string): Action<[], unknown> {
  const act = useChange();
  return useAction((key: string) => act(`/sandbox/images/${encodeURIComponent(name)}/build`, key));
}

function useChange(): (path: string, idempotencyKey: string) => Promise<void> {
  const { client } = useVitto();
  const queries = useQueryClient();
  return async (path, idempotencyKey) => {
    try {
      await client.send({ method: 'POST', path, body: {}, idempotencyKey, schema: nothing });
    } finally {
      // The button stays busy until what it did can be seen.
      await queries.invalidateQueries({ queryKey: MACHINES_KEY });
    }
  };
}
