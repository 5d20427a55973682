import { GuestError, type GuestSession, type ReadFileResult } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool, type ToolResult } from '../tool.ts';
import { withGuest } from './guest-failure.ts';
import { MARGIN_MS, path, TIME_LIMITS } from './guest-inputs.ts';
import { replaceExactly } from './text-edit.ts';

const MAX_BYTES = 8 * 1024 * 1024;

const input = z.object({
  path,
  oldText: z.string().describe('Exactly as it stands in the file, white space included.'),
  newText: z.string(),
  all: z.boolean().optional().describe('Replaces every occurrence; otherwise there must be exactly one.'),
  expectSha256: z
    .string()
    .optional()
    .describe('Fails unless the file still has this SHA-256 (from read_file).'),
});

export const editFile = defineTool({
  name: 'edit_file',
  description:
    'Replaces a piece of text in a file by another. The old text must occur exactly once, unless `all` is set.',
  input,
  domain: 'code_execution',
  risk: 'write',
  tier: 'vm',
  // Not idempotent: where the new text contains the old, a second run would change the file again.
  idempotency: 'once',
  timeoutMs: 2 * TIME_LIMITS.file + MARGIN_MS,
  run: (args, context) => withGuest(context, (guest) => edit(guest, args, context.signal)),
});

async function edit(
  guest: GuestSession,
  args: z.output<typeof input>,
  signal: AbortSignal,
): Promise<ToolResult> {
  const read = await guest.readFile({ path: args.path, length: MAX_BYTES, encoding: 'utf8', signal });
  assertEditable(read, args.expectSha256);
  const edited = replaceExactly(read.content, args.oldText, args.newText, args.all ?? false);
  if ('problem' in edited)
    return { status: 'error', text: edited.problem, data: { path: args.path, code: 'no-match' } };
  const written = await guest.writeFile({
    path: args.path,
    content: edited.text,
    encoding: 'utf8',
    // Nobody else's change is overwritten: the file must still be what was read.
    ...(read.sha256 === null ? {} : { expectSha256: read.sha256 }),
    signal,
  });
  const places = edited.count === 1 ? 'one place' : `${edited.count} places`;
  return {
    status: 'ok',
    text: `Changed ${places} in ${written.path} (${written.bytes} bytes).`,
    data: { path: written.path, bytes: written.bytes, replacements: edited.count },
  };
}

function assertEditable(read: ReadFileResult, expectSha256: string | undefined): void {
  if (read.truncated)
    throw new GuestError(
      'too-large',
      `The file has more than ${MAX_BYTES} bytes.`,
      'Change it by a command.',
    );
  if (read.binary) throw new GuestError('not-a-file', 'The file is not text.', 'Change it by a command.');
  if (expectSha256 !== undefined && expectSha256 !== read.sha256) {
    throw new GuestError(
      'changed',
      'The file is not as it was when it was read.',
      'Read it again before changing it.',
    );
  }
}
