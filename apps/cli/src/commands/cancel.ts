import type { Command } from 'commander';
import { createContext } from '../context.ts';
import { resolveTask } from '../resolve-task.ts';
import { toPlainLine } from '../text/terminal-text.ts';

export function addCancel(program: Command): void {
  program
    .command('cancel')
    .description('Stop a task and the agents it has started')
    .argument('<task>', 'its id, or a part of it')
    .action(async (argument: string, _options: unknown, command: Command) => {
      const { api, output } = createContext(command);
      const task = await api.cancelTask(await resolveTask(api, argument));
      if (output.json) return output.document(task);
      const title = toPlainLine(task.title);
      output.line(
        task.state === 'cancelled' ? `Cancelled: ${title}` : `It had ended already (${task.state}): ${title}`,
      );
    });
}
