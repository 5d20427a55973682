import type { ExecResult, GuestSession } from '@vitto/contracts';
import { z } from 'zod';
import { AppError } from '../../../kernel/app-error.ts';
import {
  formatRepository,
  isSameRepository,
  parseRepository,
  showRepository,
} from '../../../kernel/ssh/repository.ts';
import { defineTool, type Tool, type ToolContext, type ToolResult } from '../tool.ts';
import { describeEnd, describeOutput } from './command-report.ts';
import { withGuest } from './guest-failure.ts';
import { MARGIN_MS, path } from './guest-inputs.ts';

/**
 * Lets the task's machine push to one repository, until `withdraw` or for `forMs`.
 * @throws AppError when it has none, or its host refuses.
 */
export type AllowPush = (
  taskId: string,
  repository: string,
  forMs: number,
) => Promise<{ withdraw: () => Promise<void> }>;

const PUSH_MS = 10 * 60_000;
const ASK_MS = 30_000;
/** A plain name: nothing that forces, deletes, or is taken for an option. */
const ref = z.string().regex(/^(?!-)(?!.*\.\.)[A-Za-z0-9._/-]{1,200}$/, 'a plain name of a branch');

const input = z.object({
  path: path.describe('The working copy.'),
  repository: z
    .string()
    .min(1)
    .max(2048)
    .describe('The SSH address of the repository, as the remote has it: the user is asked about this one.'),
  commit: z
    .string()
    .regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'a whole commit id, as `git rev-parse HEAD` prints it')
    .describe(
      'The whole id of the commit to push: what the user agrees to is pushed, and nothing made since.',
    ),
  branch: ref.describe('The branch at the remote that is to hold it.'),
  remote: ref.optional().describe('Which remote; origin by default.'),
});
type Input = z.output<typeof input>;

/** Pushing is the one thing that git does with other people's data: it has a tool of its own, which is decided each time. */
export function createGitPush(allowPush: AllowPush): Tool {
  return defineTool({
    name: 'git_push',
    description:
      "Pushes a commit of a working copy in the task's own machine to a branch of its remote over SSH, with the user's deploy key. " +
      'It never forces and never deletes. `git push` in run_command is refused; fetching and cloning work there.',
    input,
    domain: 'code_execution',
    risk: 'irreversible',
    tier: 'vm',
    idempotency: 'once',
    timeoutMs: PUSH_MS + ASK_MS + MARGIN_MS,
    run: (args, context) => withGuest(context, (guest) => push(guest, args, context, allowPush)),
  });
}

async function push(
  guest: GuestSession,
  args: Input,
  context: ToolContext,
  allowPush: AllowPush,
): Promise<ToolResult> {
  if (guest.kind !== 'vm') return refuse(NO_NETWORK);
  const remote = args.remote ?? 'origin';
  const git = (command: string, timeoutMs: number, env: Record<string, string> = {}) =>
    // What the model wrote travels in variables: the command line is always the same.
    guest.exec({
      command,
      env: { VITTO_PATH: args.path, VITTO_REMOTE: remote, ...env },
      timeoutMs,
      signal: context.signal,
    });
  const asked = await git('exec git -C "$VITTO_PATH" remote get-url --push -- "$VITTO_REMOTE"', ASK_MS);
  if (asked.exitCode !== 0) return report(asked, guest, `There is no remote ${remote} in ${args.path}.`);
  try {
    const repository = parseRepository(args.repository);
    const found = parseRepository(asked.stdout.text);
    if (!isSameRepository(repository, found)) {
      return refuse(`The remote ${remote} leads to ${showRepository(found)}, not to ${args.repository}.`);
    }
    // A remote that is changed from now on leads nowhere: the permit is for what the user has seen.
    const permit = await allowPush(context.task.id, formatRepository(repository), PUSH_MS);
    try {
      const refspec = `${args.commit}:refs/heads/${args.branch}`;
      const done = await git(PUSH, PUSH_MS, { VITTO_REFSPEC: refspec });
      return report(done, guest, `git push of ${args.commit} to ${args.branch} of ${args.repository}:`);
    } finally {
      await permit.withdraw();
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return refuse(`${error.message} ${error.hint ?? ''}`.trim());
  }
}

const PUSH = 'exec git -C "$VITTO_PATH" push --porcelain -- "$VITTO_REMOTE" "$VITTO_REFSPEC"';
const NO_NETWORK =
  'tool_unavailable: this task runs in the process sandbox, which has no network. Pushing needs a machine of its own; hand the changes over as a patch instead (git format-patch).';

function refuse(text: string): ToolResult {
  return { status: 'error', text };
}

function report(result: ExecResult, guest: GuestSession, what: string): ToolResult {
  const isDone = result.exitCode === 0;
  return {
    status: result.timedOut ? 'timeout' : isDone ? 'ok' : 'error',
    text: [what, describeEnd(result, guest.kind), ...describeOutput(result)].join('\n'),
    data: { exitCode: result.exitCode, durationMs: result.durationMs },
  };
}
