import { useQueryClient } from '@tanstack/react-query';
import { systemQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { modelSetupQuery } from './models-api.ts';

/** Asks again for all that depends on which providers there are. */
export function useProviderRefresh(): () => Promise<void> {
  const { api, client } = useVitto();
  const queries = useQueryClient();
  return async () => {
    void queries.invalidateQueries({ queryKey: systemQuery(api).queryKey });
    await queries.invalidateQueries({ queryKey: modelSetupQuery(client).queryKey });
  };
}
