import { GuestError, type ArtifactRef } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../tool.ts';

/** A file that is handed over to the user, at most. */
const FILE_MAX_BYTES = 16 * 1024 * 1024;
const PART_BYTES = 512 * 1024;

/** `task_complete`: ends the task with a report, and keeps the named files of the guest as artifacts. */
export const taskComplete = defineTool({
  name: 'task_complete',
  description:
    'End the task. Give the final report to the user in Markdown: what was done, what was found, what is left. Name files of the sandbox that the user should get (a patch, a report): the sandbox is removed afterwards.',
  input: z.object({
    report: z
      .string()
      .min(1)
      .max(100_000)
      .describe('The final report, in Markdown, in the language of the user.'),
    success: z.boolean().describe('Whether the task was really accomplished.'),
    files: z
      .array(z.string().min(1).max(4_096))
      .max(20)
      .optional()
      .describe('Paths of files in the sandbox to hand over.'),
  }),
  domain: 'system',
  risk: 'read',
  tier: 'in-process',
  idempotency: 'idempotent',
  endsTask: true,
  // Its acceptance check may take two minutes of it.
  timeoutMs: 180_000,
  run: async (input, context) => {
    const check = input.success ? await context.checkAcceptance() : null;
    if (check?.kind === 'failed') {
      return {
        status: 'error',
        text: `The task was not ended: its acceptance check failed. Mend what is wrong and call again, or report that it did not succeed.\n${check.text}`,
      };
    }
    if (check?.kind === 'skipped') {
      return {
        status: 'error',
        text: `The task was not ended: its acceptance check could not be run (${check.reason}), so that it succeeded is not shown. Report it with success: false, and say in the report what is done and that it was not checked.`,
      };
    }
    const artifacts: ArtifactRef[] = [];
    for (const path of input.files ?? []) {
      try {
        artifacts.push(await handOver(path, context));
      } catch (error) {
        if (!(error instanceof GuestError)) throw error;
        return {
          status: 'error',
          text: `The task was not ended: the file ${path} cannot be handed over (${error.code}: ${error.message}). Correct \`files\` and call again.`,
        };
      }
    }
    const { report: text, success } = input;
    if (check === null) return { status: 'finish', text, success, artifacts };
    const { command, exitCode } = check;
    return { status: 'finish', text, success, artifacts, check: { command, exitCode } };
  },
});

async function handOver(path: string, context: ToolContext): Promise<ArtifactRef> {
  const guest = await context.claimGuest();
  const name = path.split('/').at(-1) ?? path;
  const writer = await context.artifacts.open(name, mediaTypeOf(name));
  try {
    for (let offset = 0; ;) {
      const part = await guest.readFile({
        path,
        offset,
        length: PART_BYTES,
        encoding: 'base64',
        signal: context.signal,
      });
      if (part.size > FILE_MAX_BYTES)
        throw new GuestError('too-large', `it has ${part.size} bytes, at most ${FILE_MAX_BYTES} are kept`);
      await writer.write(Buffer.from(part.content, 'base64'));
      offset += part.bytes;
      if (part.bytes === 0 || offset >= part.size) break;
    }
    const { truncated: _, ...ref } = await writer.finish();
    return ref;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

const TYPES: Record<string, string> = {
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  log: 'text/plain; charset=utf-8',
  patch: 'text/x-diff; charset=utf-8',
  diff: 'text/x-diff; charset=utf-8',
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  pdf: 'application/pdf',
};
function mediaTypeOf(name: string): string {
  return TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';
}
