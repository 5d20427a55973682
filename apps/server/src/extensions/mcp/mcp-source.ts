import type { ToolPlugin } from '../../engine/index.ts';
import type { Database } from '../../kernel/database/database.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { PluginSource } from '../open-registry.ts';
import type { McpConnections } from './mcp-connections.ts';
import { listMcpServers, readMcpVersion } from './mcp-server.store.ts';
import { createMcpPlugin } from './mcp-tools.ts';

/**
 * Tools of MCP servers that one task is offered, at most. Providers refuse a request with more than 128 tools in all,
 * and the built-in ones need their places.
 */
export const MAX_OFFERED = 96;

/** What users have approved of their servers, read from the database: no server is asked. */
export function createMcpSource(deps: {
  database: Database;
  connections: Pick<McpConnections, 'call'>;
  logger: Logger;
}): PluginSource {
  const { pool } = deps.database;
  return {
    readVersion: (userId) => readMcpVersion(pool, userId),
    open: async (userId) => {
      const servers = await listMcpServers(pool, userId);
      const usable = servers.filter(({ isEnabled, approvedHash }) => isEnabled && approvedHash !== null);
      const calls = { sql: pool, connections: deps.connections };
      const plugins = usable.map((server) => createMcpPlugin(server, calls));
      const { kept, left } = shareOut(plugins, MAX_OFFERED);
      if (left > 0)
        deps.logger.warn({ userId, left }, 'tools of MCP servers are left out: there are too many');
      return kept;
    },
  };
}

/** Each server gives one tool in turn, in its order, until the places are taken: a large one leaves room for the others. */
export function shareOut(plugins: ToolPlugin[], places: number): { kept: ToolPlugin[]; left: number } {
  const counts = plugins.map(() => 0);
  let free = places;
  for (let round = 0; free > 0 && plugins.some(({ tools }) => tools.length > round); round += 1) {
    for (const [index, { tools }] of plugins.entries()) {
      if (free === 0 || tools.length <= round) continue;
      counts[index] = round + 1;
      free -= 1;
    }
  }
  const kept = plugins.map((plugin, index) => ({ ...plugin, tools: plugin.tools.slice(0, counts[index]) }));
  const all = plugins.reduce((sum, { tools }) => sum + tools.length, 0);
  return { kept, left: all - (places - free) };
}
