import type { ProcessOutput } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool, type ToolResult } from '../tool.ts';
import { commandProgram } from './command-program.ts';
import { withGuest } from './guest-failure.ts';
import { command, cwd, env, MARGIN_MS, TIME_LIMITS } from './guest-inputs.ts';
import { toPlainText } from './terminal-text.ts';

const processId = z.string().min(1).describe('From start_process.');
const common = { domain: 'code_execution', tier: 'vm', timeoutMs: TIME_LIMITS.file + MARGIN_MS } as const;

export const startProcess = defineTool({
  ...common,
  name: 'start_process',
  description:
    'Starts a command that keeps running, as a server, and returns its process id. Later commands of this task reach ' +
    'its ports on localhost. It ends with the task, or by stop_process. Read its output with read_process.',
  input: z.object({ command, cwd, env }),
  risk: 'write',
  idempotency: 'once',
  grantKey: (args) => commandProgram(args.command),
  run: (args, context) =>
    withGuest(context, async (guest) => {
      const started = await guest.startProcess({
        command: args.command,
        ...(args.cwd === undefined ? {} : { cwd: args.cwd }),
        ...(args.env === undefined ? {} : { env: args.env }),
        signal: context.signal,
      });
      return { status: 'ok', text: `Started as process ${started.processId}.`, data: started };
    }),
});

export const readProcess = defineTool({
  ...common,
  name: 'read_process',
  description: 'Says whether a started process runs and returns its output from an offset on.',
  input: z.object({
    processId,
    offset: z.int().min(0).optional().describe('The next offset of the read before; 0 by default.'),
  }),
  risk: 'read',
  idempotency: 'pure',
  run: (args, context) =>
    withGuest(context, async (guest) =>
      toResult(
        await guest.readProcess({
          processId: args.processId,
          ...(args.offset === undefined ? {} : { offset: args.offset }),
          signal: context.signal,
        }),
        args.offset ?? 0,
      ),
    ),
});

export const stopProcess = defineTool({
  ...common,
  name: 'stop_process',
  description: 'Ends a started process and everything it started, and returns its last output.',
  input: z.object({ processId }),
  risk: 'write',
  idempotency: 'idempotent',
  run: (args, context) =>
    withGuest(context, async (guest) =>
      toResult(await guest.stopProcess({ processId: args.processId, signal: context.signal }), 0),
    ),
});

function toResult(output: ProcessOutput, offset: number): ToolResult {
  const { text, ...data } = output;
  const state = output.running
    ? 'It is running.'
    : output.signal === null
      ? `It ended with exit code ${output.exitCode}.`
      : `It was ended by ${output.signal}.`;
  const missing =
    output.missingBytes > 0
      ? ` ${output.missingBytes} bytes from offset ${offset} on are no longer kept.`
      : '';
  const body = text === '' ? 'There is no new output.' : toPlainText(text).replace(/\n$/, '');
  return { status: 'ok', text: `${state}${missing} Next offset: ${output.nextOffset}.\n${body}`, data };
}
