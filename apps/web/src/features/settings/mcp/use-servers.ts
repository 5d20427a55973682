import type { McpServer } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useVitto } from '../../../api/vitto-context.tsx';
import { useChoices } from '../use-choices.ts';
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
  /** A server as it is shown or about to be: what was chosen a moment ago is in it. */
  const newest = (server: McpServer) =>
    queries.getQueryData<ServerList>(queryKey)?.items.find((one) => one.id === server.id) ?? server;
  return { put, refresh, newest };
}

export type ServerChoice = Pick<ServerChange, 'isEnabled' | 'domain' | 'risk' | 'toolChoices'>;

/** What a person says of a server and of its tools; a choice that adds to others is made of the newest of them. */
export function useServerChange(server: McpServer) {
  const { client } = useVitto();
  const { put, refresh, newest } = useServerCache();
  const { choose, error } = useChoices<McpServer>({ show: put, refresh: () => void refresh() });
  const change = (choice: ServerChoice | ((server: McpServer) => ServerChoice)) => {
    const current = newest(server);
    const part = typeof choice === 'function' ? choice(current) : choice;
    const given = Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined));
    choose({ ...current, ...given }, () => changeServer(client, server.id, part));
  };
  return { change, error };
}
