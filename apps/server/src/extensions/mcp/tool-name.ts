import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * The name that the model uses for a server's tool: `mcp__SERVER__TOOL`, at most 64 letters, digits, `_` and `-`. A
 * name that does not fit is cut and told apart by a hash of the whole, so that it stays the same over time.
 */
export function nameTool(server: string, tool: string): { toolName: string; isChanged: boolean } {
  const prefix = `mcp__${server}__`;
  const room = MAX_LENGTH - prefix.length;
  if (/^[a-zA-Z0-9_-]+$/.test(tool) && tool.length <= room) {
    return { toolName: prefix + tool, isChanged: false };
  }
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, HASH_LENGTH);
  const plain = tool.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, room - HASH_LENGTH - 1);
  return { toolName: `${prefix}${plain}_${hash}`, isChanged: true };
}
