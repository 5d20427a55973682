import type { EventEnvelope } from '@vitto/contracts';
import { Option, type Command } from 'commander';
import { EXIT, type ExitCode } from '../cli-error.ts';
import { createContext, type Context } from '../context.ts';
import { followEvents, FROM_NOW, type ConnectionState } from '../event-stream.ts';
import { Interrupts } from '../interrupts.ts';
import { eventLine } from '../render/event-line.ts';
import { CONNECTION_NOTES } from '../render/notices.ts';
import { readWhole } from '../read-number.ts';
import { resolveTask } from '../resolve-task.ts';

export function addTail(program: Command): void {
  program
    .command('tail')
    .description('Watch events as they happen: of one task until it ends, or of all of mine')
    .argument('[task]', 'its id, or a part of it')
    .addOption(
      new Option('--from <position>', 'begin after this position of the journal').argParser(readWhole),
    )
    .action(async (argument: string | undefined, options: { from?: number }, command: Command) => {
      const context = createContext(command);
      const taskId = argument === undefined ? undefined : await resolveTask(context.api, argument);
      await (taskId === undefined ? context.api.readSession() : context.api.findTask(taskId));
      // A task is shown from its beginning; everything of mine from now on.
      const after = options.from ?? (taskId === undefined ? FROM_NOW : 0);
      process.exitCode = await tail(context, taskId, after);
    });
}

async function tail({ api, output }: Context, taskId: string | undefined, after: number): Promise<ExitCode> {
  const stop = new AbortController();
  const interrupts = new Interrupts(() => stop.abort());
  const onConnection = (state: ConnectionState) => output.note(CONNECTION_NOTES[state]);
  const stream = { after, onConnection, signal: stop.signal, ...(taskId === undefined ? {} : { taskId }) };
  try {
    for await (const event of followEvents(api, stream)) {
      if (output.json) output.document(event);
      else output.line(eventLine(event));
      const exitCode = taskId === undefined ? null : exitCodeOf(event);
      if (exitCode !== null) return exitCode;
    }
    return interrupts.wasPressed ? EXIT.cancelled : EXIT.done;
  } finally {
    interrupts.stop();
    stop.abort();
  }
}

function exitCodeOf(event: EventEnvelope): ExitCode | null {
  if (event.type === 'task.completed') return event.payload['success'] === false ? EXIT.failed : EXIT.done;
  return event.type === 'task.failed' || event.type === 'task.cancelled' ? EXIT.failed : null;
}
