import { z } from 'zod';
import { defineTool } from '../tool.ts';
import { withGuest } from './guest-failure.ts';
import { MARGIN_MS, path, TIME_LIMITS } from './guest-inputs.ts';

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a whole file, making its folders; an existing file is replaced. Use edit_file to change a part of one.',
  input: z.object({
    path,
    content: z.string(),
    encoding: z.enum(['utf8', 'base64']).optional().describe('How `content` is written; utf8 by default.'),
    executable: z.boolean().optional().describe('Makes the file a program that may be run.'),
  }),
  domain: 'code_execution',
  risk: 'write',
  tier: 'vm',
  idempotency: 'idempotent',
  timeoutMs: TIME_LIMITS.file + MARGIN_MS + 60_000,
  run: (args, context) =>
    withGuest(context, async (guest) => {
      const written = await guest.writeFile({
        path: args.path,
        content: args.content,
        encoding: args.encoding ?? 'utf8',
        ...(args.executable === undefined ? {} : { mode: args.executable ? 0o755 : 0o644 }),
        signal: context.signal,
      });
      const done = written.created ? 'Wrote' : 'Replaced';
      return { status: 'ok', text: `${done} ${written.path} (${written.bytes} bytes).`, data: written };
    }),
});
