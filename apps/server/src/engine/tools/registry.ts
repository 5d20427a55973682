import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { z } from 'zod';
import type { Tool, ToolPlugin } from './tool.ts';

/** The tools of this process by name, made once from the plugins; what a task is offered is a filter over it. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();
  readonly #definitions = new Map<string, LanguageModelV4FunctionTool>();

  constructor(plugins: ToolPlugin[]) {
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
    const { $schema: _, ...inputSchema } = z.toJSONSchema(tool.input, { io: 'input' });
    this.#definitions.set(tool.name, {
      type: 'function',
      name: tool.name,
      description: tool.description,
      inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
    });
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
