import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Tool } from '@modelcontextprotocol/client';
import type { McpToolDefinition } from '@vitto/contracts';
import { AppError } from '../../kernel/app-error.ts';
import { depthOf, readDefinition } from './read-definition.ts';

/** What a server offers: what of it may be used, and the hash that stands for all of it. */
export interface Offer {
  tools: McpToolDefinition[];
  hash: string;
}

/** Tools of one server, at most. */
export const MAX_TOOLS = 128;
/** A definition that is nested deeper is not even looked at. */
const MAX_DEPTH = 64;

/**
 * Reads the tools that a server lists. They are put in the order of their names, so that a server which lists them
 * in another order has changed nothing; the hash is over the definitions as they came.
 * @throws AppError `mcp.bad-tools` for a list that cannot be read.
 */
export function readOffer(server: string, listed: readonly Tool[]): Offer {
  if (listed.some((tool) => depthOf(tool, MAX_DEPTH) > MAX_DEPTH)) {
    throw new AppError(
      'mcp.bad-tools',
      `The tools of ${server} are nested deeper than ${MAX_DEPTH} levels.`,
      {
        status: 502,
      },
    );
  }
  const byName = new Map<string, Tool>();
  for (const tool of listed) if (!byName.has(tool.name)) byName.set(tool.name, tool);
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const kept = sorted.slice(0, MAX_TOOLS);
  const tools = kept.map((tool) => readDefinition(server, tool));
  const last = tools.at(-1);
  if (last !== undefined && sorted.length > MAX_TOOLS) {
    last.warnings.push(
      `the server offers ${sorted.length} tools; those after the first ${MAX_TOOLS} by name are left out`,
    );
  }
  return { tools, hash: hashOf(kept) };
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
  // The round trip takes out what JSON has no word for.
  const text = canonicalize(JSON.parse(JSON.stringify(raw))) ?? '';
  return createHash('sha256').update(text).digest('hex');
}
