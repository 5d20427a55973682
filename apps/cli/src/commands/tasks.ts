import { TASK_STATES, type Task } from '@vitto/contracts';
import { Option, type Command } from 'commander';
import { commandLine } from '../command-line.ts';
import { createContext } from '../context.ts';
import { readPositive } from '../read-number.ts';
import { describeState } from '../render/sub-vittos.ts';
import { formatAge, formatCost, formatTable, shortId } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

export function addTasks(program: Command): void {
  program
    .command('tasks')
    .description('List my tasks, the newest first')
    .addOption(new Option('--state <state>', 'only tasks in this state').choices([...TASK_STATES, 'active']))
    .addOption(new Option('--limit <n>', 'how many').argParser(readPositive).default(20))
    .action(listTasks);
}

async function listTasks(options: { state?: string; limit: number }, command: Command): Promise<void> {
  const { api, output } = createContext(command);
  const state = options.state === undefined ? {} : { state: options.state };
  const tasks = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(200, Math.ceil(options.limit) - tasks.length);
    const page = await api.listTasks({ ...state, limit, ...(cursor === null ? {} : { cursor }) });
    tasks.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && tasks.length < options.limit);

  if (output.json) return output.document({ items: tasks, nextCursor: cursor });
  if (tasks.length === 0) return output.notice(`No tasks. Begin one with: ${commandLine('chat "…"')}`);
  const now = Date.now();
  const rows = tasks.map((task) => [
    output.isTerminal ? shortId(task.id) : task.id,
    describeState(task),
    formatAge(task.createdAt, now),
    formatCost(task.spending.costUsd),
    toPlainLine(describeTitle(task)),
  ]);
  for (const row of formatTable(rows)) output.line(row);
}

/** A sub-Vitto is told from what a person began. */
function describeTitle({ depth, role, title }: Task): string {
  return depth === 0 ? title : `${'  '.repeat(depth - 1)}└ ${role ?? 'agent'}: ${title}`;
}
