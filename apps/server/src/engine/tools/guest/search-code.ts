import type { SearchResult } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { withGuest } from './guest-failure.ts';
import { MARGIN_MS, path, TIME_LIMITS } from './guest-inputs.ts';
import { toPlainText } from './terminal-text.ts';

export const searchCode = defineTool({
  name: 'search_code',
  description:
    'Searches files for a POSIX extended regular expression (or fixed text) and returns the lines that match. Skips ' +
    '.git and node_modules unless the path points into them; does not follow links.',
  input: z.object({
    pattern: z.string(),
    path: path.optional(),
    fixed: z.boolean().optional().describe('The pattern is plain text.'),
    ignoreCase: z.boolean().optional(),
    include: z.string().optional().describe('Only files whose name matches this glob, as *.ts'),
    maxMatches: z.int().min(1).max(5000).optional().describe('200 by default.'),
  }),
  domain: 'code_execution',
  risk: 'read',
  tier: 'vm',
  idempotency: 'pure',
  timeoutMs: TIME_LIMITS.search + MARGIN_MS,
  run: ({ path: where = '.', pattern, ...options }, context) =>
    withGuest(context, async (guest) => {
      const found = await guest.search({
        pattern,
        path: where,
        ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
        timeoutMs: TIME_LIMITS.search,
        signal: context.signal,
      });
      return {
        status: found.timedOut ? 'timeout' : 'ok',
        text: describe(found),
        data: {
          path: where,
          matches: found.matches.length,
          truncated: found.truncated,
          timedOut: found.timedOut,
        },
      };
    }),
});

function describe({ matches, truncated, timedOut }: SearchResult): string {
  const lines = matches.map(({ path: file, line, text }) => `${file}:${line}: ${toPlainText(text)}`);
  const end = timedOut
    ? ['The search was ended at its time limit; what it had found is above.']
    : truncated
      ? [`There are more than ${matches.length} matches: narrow the pattern or the path.`]
      : [];
  if (lines.length === 0 && end.length === 0) return 'No matches.';
  return [...lines, ...end].join('\n');
}
