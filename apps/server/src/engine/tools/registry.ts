import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { z } from 'zod';
import type { Tool, ToolPlugin } from './tool.ts';

/**
 * Tools by name, made from plugins; what a task is offered is a filter over it. The built-in ones are made once a
 * process; what a user brings (MCP servers, skills) is put over them with `extend`.
 */
export class ToolRegistry {
  readonly #tools: Map<string, Tool>;
  readonly #definitions: Map<string, LanguageModelV4FunctionTool>;

  constructor(plugins: ToolPlugin[], base: ToolRegistry | null = null) {
    this.#tools = new Map(base === null ? [] : base.#tools);
    this.#definitions = new Map(base === null ? [] : base.#definitions);
    for (const plugin of plugins) for (const tool of plugin.tools) this.#add(plugin, tool);
  }

  #add(plugin: ToolPlugin, tool: Tool): void {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name)) {
      throw new Error(
        `plugin ${plugin.name}: "${tool.name}" is not a tool name (letters, digits, _ and -, at most 64)`,
      );
    }
    if (this.#tools.has(tool.name))
      throw new Error(`plugin ${plugin.name}: there is already a tool "${tool.name}"`);
    this.#tools.set(tool.name, tool);
    const { $schema: _, ...inputSchema } = tool.inputSchema ?? z.toJSONSchema(tool.input, { io: 'input' });
    this.#definitions.set(tool.name, {
      type: 'function',
      name: tool.name,
      description: tool.description,
      inputSchema,
    });
  }

  /**
   * These tools and the plugins' after them; this registry stays as it is. The definitions are the same objects in the
   * same order, so that a provider's cache of the built-in part hits.
   * @throws Error when a name is not one, or is taken: a plugin never stands in for a tool that is there.
   */
  extend(plugins: ToolPlugin[]): ToolRegistry {
    return plugins.length === 0 ? this : new ToolRegistry(plugins, this);
  }

  find(name: string): Tool | null {
    return this.#tools.get(name) ?? null;
  }
  /** All names, in a stable order. */
  get names(): string[] {
    return [...this.#tools.keys()];
  }
  /** What the model is told of the tools it is offered; always the same objects in the same order, so that caches hit. */
  describe(names: readonly string[]): LanguageModelV4FunctionTool[] {
    return names.map((name) => this.#definitions.get(name)).filter((definition) => definition !== undefined);
  }

  /** Names that look like `name`, best first, for a model that mistyped one. */
  findNear(name: string, among: readonly string[]): string[] {
    const wanted = trigrams(name);
    return among
      .map((candidate) => ({ candidate, score: similarity(wanted, trigrams(candidate)) }))
      .filter(({ score }) => score > 0.15)
      .sort((a, b) => b.score - a.score)
      .slice(0, 3)
      .map(({ candidate }) => candidate);
  }
}

function trigrams(text: string): Set<string> {
  const padded = `  ${text.toLowerCase().slice(0, 100)} `;
  return new Set(Array.from({ length: Math.max(0, padded.length - 2) }, (_, i) => padded.slice(i, i + 3)));
}
function similarity(a: Set<string>, b: Set<string>): number {
  const both = [...a].filter((gram) => b.has(gram)).length;
  return both / (a.size + b.size - both || 1);
}
