import type { Approval } from '@vitto/contracts';
import type { Command } from 'commander';
import { commandLine } from '../command-line.ts';
import { createContext, type Context } from '../context.ts';
import { showApproval } from '../render/waiting.ts';
import { checkPart, fits, pickOne } from '../resolve-task.ts';

interface ApproveOptions {
  refuse?: boolean;
  note?: string;
}

export function addApprove(program: Command): void {
  program
    .command('approve')
    .description('List what waits for my approval; with an id, approve or refuse it')
    .argument('[id]', "the approval's id, or a part of it")
    .option('--refuse', 'refuse instead')
    .option('--note <text>', 'what to tell Vitto with the decision')
    .action(async (id: string | undefined, options: ApproveOptions, command: Command) => {
      const context = createContext(command);
      await (id === undefined ? listWaiting(context) : decide(context, id, options));
    });
}

async function listWaiting({ api, output }: Context): Promise<void> {
  const waiting = await readWaiting({ api });
  if (output.json) return output.document({ items: waiting });
  if (waiting.length === 0) return output.notice('Nothing waits for your approval.');
  for (const approval of waiting) {
    output.line(`${approval.id}  task ${approval.taskId}`);
    for (const line of showApproval(approval)) output.line(`  ${line}`);
    output.line();
  }
  output.note(
    `Decide with "${commandLine('approve ID')}", or refuse with "${commandLine('approve ID --refuse --note …')}".`,
  );
}

/** What is decided is what was shown: the decision carries the hash of the arguments printed here. */
async function decide({ api, output }: Context, id: string, options: ApproveOptions): Promise<void> {
  const part = id.toLowerCase();
  checkPart(part, 'approval');
  const found = (await readWaiting({ api })).filter((approval) => fits(approval.id, part));
  const approval = pickOne(found, id, 'approval', (item) => `${item.id}  ${item.tool}`);
  if (!output.json) for (const line of showApproval(approval)) output.note(line);
  const decided = await api.decideApproval(approval.id, {
    decision: options.refuse === true ? 'refused' : 'approved',
    argumentsHash: approval.argumentsHash,
    ...(options.note === undefined ? {} : { note: options.note }),
  });
  if (output.json) return output.document(decided);
  output.line(decided.state === 'approved' ? 'Approved. The task goes on.' : 'Refused. The task is told.');
}

async function readWaiting({ api }: Pick<Context, 'api'>): Promise<Approval[]> {
  const waiting: Approval[] = [];
  let cursor: string | null = null;
  do {
    const query = { state: 'pending', limit: 200, ...(cursor === null ? {} : { cursor }) };
    const page = await api.listApprovals(query);
    waiting.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return waiting;
}
