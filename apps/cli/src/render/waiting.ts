import type { Approval, EventPayload, WaitingFor } from '@vitto/contracts';
import { CliError, EXIT } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import { toPlainLine } from '../text/terminal-text.ts';
import { showArguments, toVisibleText } from '../text/visible-text.ts';

/** What a task waits for when there is nobody to ask: what, and how to answer. */
export function explainWaiting(
  waitingFor: WaitingFor,
  task: { taskId: string; conversationId: string },
): CliError {
  if (waitingFor.kind === 'approval') {
    const [first] = waitingFor.approvalIds;
    return new CliError(
      EXIT.waiting,
      'cli.needs-approval',
      `Task ${task.taskId} waits for your approval${waitingFor.approvalIds.length > 1 ? 's' : ''}.`,
      `See what would run with "${commandLine('approve')}"; decide with "${commandLine(`approve ${first ?? 'ID'}`)}" or with --refuse.`,
    );
  }
  const question = waitingFor.kind === 'input' ? `: ${toPlainLine(waitingFor.question)}` : '.';
  return new CliError(
    EXIT.waiting,
    'cli.needs-answer',
    `Task ${task.taskId} waits for your answer${question}`,
    `Answer with: ${commandLine(`chat --conversation ${task.conversationId} "…"`)}`,
  );
}

type Asked = Pick<
  EventPayload<'approval.requested'> | Approval,
  'tool' | 'arguments' | 'reason' | 'risk' | 'domain' | 'expiresAt'
>;

const RISKS = { read: 'only reads', write: 'changes things', irreversible: 'cannot be undone' };

/** An approval as a person must see it: the tool, the reason, and exactly what would run. */
export function showApproval(approval: Asked): string[] {
  return [
    `${toVisibleText(approval.tool)} (${RISKS[approval.risk]}; ${approval.domain})`,
    `Why it asks: ${toPlainLine(approval.reason)}`,
    ...showArguments(approval.arguments).map((line) => `  ${line}`),
    `It waits until ${new Date(approval.expiresAt).toLocaleString()}.`,
  ];
}
