/** The front door of what users bring: MCP servers and skills. */
export { McpServers } from './mcp/manage-mcp-servers.ts';
export { McpConnections, type McpDependencies } from './mcp/mcp-connections.ts';
export { StartedPrograms } from './mcp/started-programs.ts';
export { createMcpSource } from './mcp/mcp-source.ts';
export { Skills } from './skills/manage-skills.ts';
export { createSkillSource } from './skills/skill-source.ts';
export { createRegistryOpener, type PluginSource } from './open-registry.ts';
