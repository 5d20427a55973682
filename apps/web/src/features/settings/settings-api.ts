import { costs, settings, settingsLimits, type Settings, type updateSettings } from '@vitto/contracts';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import type { ApiClient } from '../../api/client.ts';
import { settingsQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';

export type SettingsChange = z.infer<typeof updateSettings>;

export function limitsQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['settings-limits'],
    queryFn: () => client.send({ path: '/settings/limits', schema: settingsLimits }),
    staleTime: 300_000,
  });
}

/** What today has cost so far. */
export function todayQuery(client: ApiClient) {
  return queryOptions({
    queryKey: ['costs-today'],
    queryFn: async () => (await client.send({ path: '/costs', schema: costs })).today,
  });
}

/** Changes the settings that are given; every part of the page that shows them follows. */
export function useSettingsChange(): (change: SettingsChange) => Promise<Settings> {
  const { api, client } = useVitto();
  const queries = useQueryClient();
  return async (change) => {
    const changed = await client.send({ method: 'PATCH', path: '/settings', body: change, schema: settings });
    const { queryKey } = settingsQuery(api);
    await queries.cancelQueries({ queryKey });
    queries.setQueryData(queryKey, changed);
    return changed;
  };
}
