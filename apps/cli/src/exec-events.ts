import { problem } from '@vitto/contracts';
import { z } from 'zod';
import { CliError, EXIT } from './cli-error.ts';

const execResult = z.object({
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  limit: z.string().nullable(),
});
/** What is needed of how a command ended; all else that the server says of it stays in it. */
export type CommandResult = z.infer<typeof execResult> & Record<string, unknown>;

export type ExecEvent =
  | { type: 'stdout' | 'stderr'; bytes: Buffer }
  | { type: 'waiting'; place: number; reason: string }
  | { type: 'result'; result: CommandResult };

/** The events of a command in a machine, in order. @throws CliError for a refusal, and for an answer that broke off. */
export async function* readExecEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ExecEvent> {
  for await (const { event, data } of readFrames(body)) {
    if (event === 'stdout' || event === 'stderr') yield { type: event, bytes: Buffer.from(data, 'base64') };
    else if (event === 'waiting') yield { type: 'waiting', ...readWaiting(data) };
    else if (event === 'problem') throw readRefusal(data);
    else if (event === 'result') {
      yield { type: 'result', result: execResult.loose().parse(JSON.parse(data)) };
      return;
    }
  }
  throw new CliError(
    EXIT.unreachable,
    'cli.broke-off',
    'The connection ended before the command did.',
    'Who goes away ends the command: what it had done by then is done.',
  );
}

/** Server-Sent Events of one line of data each, as this route sends them. */
async function* readFrames(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ event: string; data: string }> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const event = /^event: (.*)$/m.exec(frame)?.[1];
      if (event !== undefined) yield { event, data: /^data: (.*)$/m.exec(frame)?.[1] ?? '' };
    }
  }
}

function readWaiting(data: string): { place: number; reason: string } {
  return z.object({ place: z.number(), reason: z.string() }).parse(JSON.parse(data));
}

function readRefusal(data: string): CliError {
  const { code, title, detail, hint } = problem.parse(JSON.parse(data));
  const what = detail === undefined || (hint !== undefined && detail.endsWith(hint)) ? title : detail;
  return new CliError(EXIT.failed, code, what, hint);
}
