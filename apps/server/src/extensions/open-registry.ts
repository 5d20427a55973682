import type { ToolPlugin, ToolRegistry } from '../engine/index.ts';

/** Tools that users bring: MCP servers, skills. */
export interface PluginSource {
  /** Changes whenever what `open` would give changes. */
  readVersion: (userId: string) => Promise<string>;
  open: (userId: string) => Promise<ToolPlugin[]>;
}

/** Users whose registry is kept, at most. */
const MAX_KEPT = 500;

/**
 * Opens the registry of a task: the built-in tools, shared by all, and over them what its user brings. A registry is
 * kept until what it was made from changes, so that a task costs one small query for each source and a step nothing.
 */
export function createRegistryOpener(
  builtIn: ToolRegistry,
  sources: PluginSource[],
): (task: { userId: string }) => Promise<ToolRegistry> {
  const kept = new Map<string, { version: string; registry: ToolRegistry }>();
  return async ({ userId }) => {
    const versions = await Promise.all(sources.map((source) => source.readVersion(userId)));
    const version = versions.join('\n');
    const known = kept.get(userId);
    if (known?.version === version) return known.registry;
    const plugins = await Promise.all(sources.map((source) => source.open(userId)));
    const registry = builtIn.extend(plugins.flat());
    kept.delete(userId);
    kept.set(userId, { version, registry });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return registry;
  };
}
