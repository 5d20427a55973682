import { z } from 'zod';
import { defineTool } from '../tool.ts';

const PAGE_BYTES = 12_000;

/** `read_artifact`: pages through a long result or a file that is kept beside the journal. */
export const readArtifact = defineTool({
  name: 'read_artifact',
  description:
    'Read a part of an artifact (a long tool result or a file that was kept). Give the byte offset to go on from; the answer says where the next part begins.',
  input: z.object({
    artifactId: z.uuid(),
    offset: z.number().int().nonnegative().default(0).describe('Bytes from the start.'),
    length: z.number().int().min(1).max(PAGE_BYTES).default(PAGE_BYTES),
  }),
  domain: 'knowledge',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'pure',
  timeoutMs: 10_000,
  run: async (input, context) => {
    // Up to three bytes more, so that the last character is whole.
    const found = await context.artifacts.read(input.artifactId, input.offset, input.length + 3);
    if (found === null) {
      return {
        status: 'error',
        text: `There is no artifact ${input.artifactId}. Use an id from an earlier result.`,
      };
    }
    const { ref, bytes } = found;
    const part = bytes.subarray(0, wholeCharacters(bytes, input.length));
    const end = input.offset + part.length;
    const rest = ref.bytes > end ? `; the next part begins at offset ${end}` : '; this is the end';
    return {
      status: 'ok',
      text: `[${ref.name}, bytes ${input.offset} to ${end} of ${ref.bytes}${rest}]\n${new TextDecoder().decode(part)}`,
      // Which of its artifacts a task has made of text from outside is not known: all that it reads then is framed.
      ...(context.isTainted() ? { untrusted: `artifact ${ref.name}` } : {}),
      data: { artifactId: ref.id, name: ref.name, offset: input.offset, end, bytes: ref.bytes },
    };
  },
});

/** The largest length up to `wanted` + 3 that does not end within a UTF-8 character. */
function wholeCharacters(bytes: Uint8Array, wanted: number): number {
  let end = Math.min(wanted, bytes.length);
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1;
  return end;
}
