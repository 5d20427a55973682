import type { GuestSession, ReadFileResult } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool, type ToolResult } from '../tool.ts';
import { withGuest } from './guest-failure.ts';
import { MARGIN_MS, path, TIME_LIMITS } from './guest-inputs.ts';
import { toPlainText } from './terminal-text.ts';

const MAX_BYTES = 1024 * 1024;

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a text file, or a part of it by byte offset. Says the size, what is left, and the SHA-256 of a file read whole.',
  input: z.object({
    path,
    offset: z.int().min(0).optional().describe('Bytes from the start.'),
    length: z.int().min(1).max(MAX_BYTES).optional().describe('At most this many bytes; 262144 by default.'),
    encoding: z
      .enum(['utf8', 'base64'])
      .optional()
      .describe('utf8 by default; base64 for files that are no text.'),
  }),
  domain: 'code_execution',
  risk: 'read',
  tier: 'vm',
  idempotency: 'pure',
  timeoutMs: TIME_LIMITS.file + MARGIN_MS,
  run: (args, context) =>
    withGuest(context, async (guest: GuestSession): Promise<ToolResult> => {
      const encoding = args.encoding ?? 'utf8';
      const read = await guest.readFile({
        path: args.path,
        ...(args.offset === undefined ? {} : { offset: args.offset }),
        ...(args.length === undefined ? {} : { length: args.length }),
        encoding,
        signal: context.signal,
      });
      const { content: _, ...data } = read;
      return {
        status: 'ok',
        text: `${describe(args.path, read)}\n${textOf(read, encoding)}`,
        data: { path: args.path, ...data },
      };
    }),
});

function describe(asked: string, read: ReadFileResult): string {
  const part = read.truncated ? `, bytes ${read.offset} to ${read.offset + read.bytes}` : '';
  const end = read.offset + read.bytes;
  const rest = end < read.size ? ` Read on with offset ${end}.` : '';
  const hash = read.sha256 === null ? '' : `, sha256 ${read.sha256}`;
  return `${asked} (${read.size} bytes${part}${hash}).${rest}`;
}

function textOf(read: ReadFileResult, encoding: 'utf8' | 'base64'): string {
  if (read.bytes === 0)
    return read.size === 0 ? '(The file is empty.)' : '(There is nothing from this offset on.)';
  if (encoding === 'base64') return read.content;
  if (read.binary) return `(The file is not text.)\n${toPlainText(read.content)}`;
  // A file is shown as it is; only escape sequences, which could forge what a person sees, are taken out.
  return read.content.includes('\u001b')
    ? `(Escape sequences are left out.)\n${toPlainText(read.content)}`
    : read.content;
}
