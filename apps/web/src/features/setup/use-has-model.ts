import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { modelSetupQuery } from '../settings/models/models-api.ts';

const KEY = 'vitto.has-model';

/**
 * Whether a task of this person has a model to ask; `undefined` while that is not known. What was so the last time is
 * taken for so until the server has answered: who has a model does not wait for the empty chat.
 */
export function useHasModel(): boolean | undefined {
  const { client } = useVitto();
  const setup = useQuery({ ...modelSetupQuery(client), staleTime: 30_000 });
  const found = setup.data === undefined ? undefined : setup.data.mainModels.length > 0;
  useEffect(() => {
    if (found !== undefined) localStorage.setItem(KEY, found ? 'yes' : 'no');
  }, [found]);
  if (found !== undefined) return found;
  // The page that cannot ask is no reason to keep people from writing.
  return setup.isError || localStorage.getItem(KEY) === 'yes' ? true : undefined;
}
