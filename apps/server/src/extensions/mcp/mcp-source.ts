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
  connections: Pick<McpConnections, 'call' | 'drop'>;
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
      const { kept, left } = takeFirst(plugins, MAX_OFFERED);
      if (left > 0)
        deps.logger.warn({ userId, left }, 'tools of MCP servers are left out: there are too many');
      return kept;
    },
  };
}

function takeFirst(plugins: ToolPlugin[], most: number): { kept: ToolPlugin[]; left: number } {
  let room = most;
  let left = 0;
  const kept = plugins.map((plugin) => {
    const tools = plugin.tools.slice(0, room);
    room -= tools.length;
    left += plugin.tools.length - tools.length;
    return { ...plugin, tools };
  });
  return { kept, left };
}
