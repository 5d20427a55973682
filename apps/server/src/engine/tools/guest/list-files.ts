import type { ListFilesResult } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { withGuest } from './guest-failure.ts';
import { MARGIN_MS, path, TIME_LIMITS } from './guest-inputs.ts';

export const listFiles = defineTool({
  name: 'list_files',
  description:
    'Lists a folder, a page at a time, sorted by name, with the total. Odd characters in names are shown as \\xNN; such a ' +
    'name can be given to the other tools as it is shown.',
  input: z.object({
    path: path.optional(),
    depth: z.int().min(1).max(32).optional().describe('Levels to list; 1 by default.'),
    limit: z.int().min(1).max(5000).optional().describe('Entries a page; 500 by default.'),
    cursor: z.string().optional().describe('From the page before.'),
  }),
  domain: 'code_execution',
  risk: 'read',
  tier: 'vm',
  idempotency: 'pure',
  timeoutMs: TIME_LIMITS.file + MARGIN_MS,
  run: (args, context) =>
    withGuest(context, async (guest) => {
      const listed = await guest.listFiles({
        path: args.path ?? '.',
        ...(args.depth === undefined ? {} : { depth: args.depth }),
        ...(args.limit === undefined ? {} : { limit: args.limit }),
        ...(args.cursor === undefined ? {} : { cursor: args.cursor }),
        signal: context.signal,
      });
      const data = {
        path: args.path ?? '.',
        shown: listed.entries.length,
        total: listed.total,
        nextCursor: listed.nextCursor,
      };
      return { status: 'ok', text: describe(listed), data };
    }),
});

function describe({ entries, total, nextCursor }: ListFilesResult): string {
  if (total === 0) return 'The folder is empty.';
  const lines = entries.map(({ path: name, type, size }) => {
    if (type === 'directory') return `${name}/`;
    return type === 'file' ? `${name} (${size} bytes)` : `${name} (${type})`;
  });
  const heading = entries.length === total ? `${total} entries:` : `${entries.length} of ${total} entries:`;
  const more = nextCursor === null ? [] : [`There are more: call again with cursor ${nextCursor}`];
  return [heading, ...lines, ...more].join('\n');
}
