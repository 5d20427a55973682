import type { ExecResult, GuestSession, VmGuestSession } from '@vitto/contracts';
import { z } from 'zod';
import { defineTool, type Tool, type ToolContext, type ToolResult } from '../tool.ts';
import { commandProgram } from './command-program.ts';
import { describeEnd, describeOutput } from './command-report.ts';
import { withGuest } from './guest-failure.ts';
import { command, cwd, env, MARGIN_MS } from './guest-inputs.ts';
import { OutputSpool } from './output-spool.ts';
import { recordOf, settleCommand } from './settle-command.ts';
import { TerminalText } from './terminal-text.ts';

const shape = {
  command,
  cwd,
  env,
  stdin: z.string().optional().describe('Standard input; empty by default.'),
};
type Input = z.output<z.ZodObject<typeof shape>> & { timeoutSeconds?: number | undefined };

/** `limitMs`: what one command takes at most, and by default. */
export function createRunCommand(limitMs: number): Tool {
  const maxSeconds = limitMs / 1000;
  const timeoutSeconds = z.number().positive().max(maxSeconds).optional();
  return defineTool({
    name: 'run_command',
    description:
      "Runs a shell command in the task's own machine and returns its output and exit code. Files persist between calls; " +
      'environment and working directory do not. Background processes are ended when the command itself ends: use ' +
      'start_process for servers and other things that should keep running.',
    input: z.object({
      ...shape,
      timeoutSeconds: timeoutSeconds.describe(`At most, and by default, ${maxSeconds}.`),
    }),
    domain: 'code_execution',
    risk: 'write',
    tier: 'vm',
    idempotency: 'once',
    timeoutMs: limitMs + MARGIN_MS,
    grantKey: (args) => commandProgram(args.command),
    run: (args, context) => withGuest(context, (guest) => run(guest, args, context, limitMs)),
    settle: async (_args, context) => {
      const guest = await context.claimGuest();
      return guest.kind === 'vm' ? settleCommand(guest as VmGuestSession, context) : null;
    },
  });
}

async function run(
  guest: GuestSession,
  args: Input,
  context: ToolContext,
  limitMs: number,
): Promise<ToolResult> {
  const spool = new OutputSpool(context.artifacts, `output-${context.callId}.txt`);
  const live = { stdout: new TerminalText(), stderr: new TerminalText() };
  const report = (stream: 'stdout' | 'stderr', text: string): void => {
    if (text !== '') context.reportProgress(stream, text);
  };
  try {
    const result = await guest.exec({
      command: args.command,
      ...(args.cwd === undefined ? {} : { cwd: args.cwd }),
      ...(args.env === undefined ? {} : { env: args.env }),
      ...(args.stdin === undefined ? {} : { stdin: args.stdin }),
      timeoutMs: args.timeoutSeconds === undefined ? limitMs : Math.round(args.timeoutSeconds * 1000),
      callId: recordOf(context),
      signal: context.signal,
      onOutput: (stream, text) => report(stream, live[stream].push(text)),
      spool: (_stream, bytes) => spool.write(bytes),
    });
    for (const stream of ['stdout', 'stderr'] as const) report(stream, live[stream].end());
    return await toResult(result, spool, guest);
  } catch (error) {
    await spool.abort();
    throw error;
  }
}

async function toResult(result: ExecResult, spool: OutputSpool, guest: GuestSession): Promise<ToolResult> {
  const whole = await spool.finish();
  const notes = [describeEnd(result, guest.kind)];
  if (whole !== null) {
    const kept = whole.truncated ? 'What fits of the output' : 'The whole output';
    notes.push(`${kept} is kept as artifact ${whole.id}; read it with read_artifact.`);
  } else if (spool.failure !== null) notes.push(`The rest of the output was not kept: ${spool.failure}.`);
  return {
    status: result.timedOut ? 'timeout' : result.exitCode === 0 && result.limit === null ? 'ok' : 'error',
    text: [...notes, ...describeOutput(result)].join('\n'),
    data: {
      exitCode: result.exitCode,
      signal: result.signal,
      timedOut: result.timedOut,
      limit: result.limit,
      durationMs: result.durationMs,
      stdoutBytes: result.stdout.totalBytes,
      stderrBytes: result.stderr.totalBytes,
      leftoversKilled: result.leftoversKilled,
    },
    ...(whole === null ? {} : { artifacts: [withoutTruncated(whole)] }),
  };
}

function withoutTruncated<Ref extends { truncated: boolean }>({
  truncated: _,
  ...ref
}: Ref): Omit<Ref, 'truncated'> {
  return ref;
}
