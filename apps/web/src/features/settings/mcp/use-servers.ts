import type { McpServer } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useVitto } from '../../../api/vitto-context.tsx';
import { useAction } from '../use-action.ts';
import { changeServer, mcpQuery, type ServerChange, type ServerList } from './mcp-api.ts';

/** Puts what the server answered into the list that is shown. */
export function useServerCache() {
  const { client } = useVitto();
  const queries = useQueryClient();
  const { queryKey } = mcpQuery(client);
  const put = (server: McpServer) => {
    queries.setQueryData<ServerList>(queryKey, (list) => {
      if (list === undefined) return list;
      const isKnown = list.items.some((one) => one.id === server.id);
      const items = isKnown
        ? list.items.map((one) => (one.id === server.id ? server : one))
        : [...list.items, server];
      return { items };
    });
  };
  const refresh = () => queries.invalidateQueries({ queryKey });
  return { put, refresh };
}

/** Shows a choice at once; a refusal takes it back. */
export function useServerChange(server: McpServer) {
  const { client } = useVitto();
  const { put, refresh } = useServerCache();
  return useAction(async (_key, change: ServerChange) => {
    const { isEnabled, domain, risk, toolChoices } = change;
    put({
      ...server,
      ...(isEnabled === undefined ? {} : { isEnabled }),
      ...(domain === undefined ? {} : { domain }),
      ...(risk === undefined ? {} : { risk }),
      ...(toolChoices === undefined ? {} : { toolChoices }),
    });
    try {
      put(await changeServer(client, server.id, change));
      return true;
    } catch (error) {
      put(server);
      void refresh();
      throw error;
    }
  });
}
