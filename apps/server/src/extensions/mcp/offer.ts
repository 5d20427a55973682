import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Tool } from '@modelcontextprotocol/client';
import type { McpToolDefinition } from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import { mapStrings } from '../../kernel/text/storable.ts';
import { createSchemaValidator } from './check-input.ts';
import { depthOf, readDefinition } from './read-definition.ts';

/** Tools of one server, at most. */
export const MAX_TOOLS = 128;
/** A definition that is nested deeper is not even looked at. */
const MAX_DEPTH = 64;

/**
 * What a server offers. The tools are put in the order of their names, so that a server which lists them in another
 * order has changed nothing.
 */
export class Offer {
  readonly #server: string;
  readonly #kept: Tool[];
  /** How many tools there were. */
  readonly #count: number;
  #tools: McpToolDefinition[] | null = null;
  /** Stands for the definitions as they came. */
  readonly hash: string;

  /** @throws AppError `mcp.bad-tools` for a list that cannot be read. */
  constructor(server: string, listed: readonly Tool[]) {
    if (listed.some((tool) => depthOf(tool, MAX_DEPTH) > MAX_DEPTH)) {
      throw new AppError(
        'mcp.bad-tools',
        `The tools of ${server} are nested deeper than ${MAX_DEPTH} levels.`,
        { status: 502, hint: 'Tell who makes that server, or remove it.' },
      );
    }
    const byName = new Map<string, Tool>();
    for (const tool of listed) if (!byName.has(tool.name)) byName.set(tool.name, tool);
    const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#server = server;
    this.#count = sorted.length;
    this.#kept = sorted.slice(0, MAX_TOOLS);
    this.hash = hashOf(this.#kept);
  }

  /** The tools as people and models see them. Made when asked for: where the hash is the approved one, nobody asks. */
  get tools(): McpToolDefinition[] {
    this.#tools ??= this.#read();
    return this.#tools;
  }

  #read(): McpToolDefinition[] {
    const validator = createSchemaValidator();
    const tools = this.#kept.map((tool) => readDefinition(this.#server, tool, validator));
    const last = tools.at(-1);
    if (last !== undefined && this.#count > MAX_TOOLS) {
      last.warnings.push(
        `the server offers ${this.#count} tools; those after the first ${MAX_TOOLS} by name are left out`,
      );
    }
    return tools;
  }
}

/** Everything that a person approves or a model reads; `_meta` and icons are neither. */
function hashOf(tools: readonly Tool[]): string {
  const raw = tools.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
  }));
  // The round trip takes out what JSON has no word for; half of a character has no canonical form.
  const plain = mapStrings(JSON.parse(JSON.stringify(raw)), (text) => text.toWellFormed());
  return createHash('sha256')
    .update(canonicalize(plain) ?? '')
    .digest('hex');
}
