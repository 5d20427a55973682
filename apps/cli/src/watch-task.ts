import { readKnownEvent, type EventEnvelope, type KnownEvent } from '@vitto/contracts';
import { CliError, EXIT, type ExitCode } from './cli-error.ts';
import { commandLine } from './command-line.ts';
import type { Context } from './context.ts';
import { followEvents } from './event-stream.ts';
import { CONNECTION_NOTES } from './render/notices.ts';
import { Interrupts } from './interrupts.ts';
import { PersonInTheLoop } from './person-in-the-loop.ts';
import { TaskView } from './render/task-view.ts';
import { explainWaiting } from './render/waiting.ts';

export interface StartedTask {
  taskId: string;
  conversationId: string;
  /** The message that a task which ran already was given; `null` when the message began the task. */
  messageId: string | null;
}

export interface WatchOptions {
  /** Write text as it comes even into a pipe. */
  streamsText?: boolean;
}

/**
 * Sends a message and shows the task that works on it until it ends, or until it waits for a person whom nobody can
 * ask here. The first Ctrl-C cancels the task and waits for its end. Gives the exit code.
 */
export async function watchTask(
  context: Context,
  send: () => Promise<StartedTask>,
  options: WatchOptions = {},
): Promise<{ exitCode: ExitCode; task: StartedTask }> {
  const watch = new Watch(context, options);
  try {
    const task = await send();
    return { exitCode: await watch.run(task), task };
  } finally {
    watch.close();
  }
}

class Watch {
  readonly #context: Context;
  readonly #view: TaskView;
  readonly #stop = new AbortController();
  readonly #interrupts = new Interrupts(() => void this.#cancel());
  #taskId: string | null = null;
  #failure: CliError | null = null;
  #person: PersonInTheLoop | null = null;
  /** Events that wait while a question stands on the screen. */
  #held: KnownEvent[] = [];

  constructor(context: Context, options: WatchOptions) {
    this.#context = context;
    this.#view = new TaskView(context.output, {
      isLive: context.output.isTerminal || options.streamsText === true,
    });
  }

  async run(task: StartedTask): Promise<ExitCode> {
    this.#taskId = task.taskId;
    if (this.#context.isInteractive) {
      const onInterrupt = this.#interrupts.press;
      this.#person = new PersonInTheLoop(this.#context, task, {
        onInterrupt,
        onIdle: () => this.#showHeld(),
      });
    }
    if (this.#interrupts.wasPressed) void this.#cancel();
    // What a task that was running already has done before it got this message was shown to whoever began it.
    let isOurs = task.messageId === null;
    for await (const event of this.#events(task.taskId)) {
      isOurs ||= event.payload['messageId'] === task.messageId;
      if (!isOurs) continue;
      const exitCode = this.#handle(event, task);
      if (exitCode !== null) return exitCode;
    }
    throw this.#failure ?? new CliError(EXIT.unreachable, 'cli.stream-ended', 'The stream of events ended.');
  }

  close(): void {
    this.#person?.close();
    this.#showHeld();
    this.#interrupts.stop();
    this.#view.stop();
    this.#stop.abort();
  }

  #events(taskId: string): AsyncGenerator<EventEnvelope> {
    return followEvents(this.#context.api, {
      taskId,
      signal: this.#stop.signal,
      after: 0,
      onConnection: (state) => this.#context.output.note(CONNECTION_NOTES[state]),
    });
  }

  #handle(envelope: EventEnvelope, task: StartedTask): ExitCode | null {
    if (this.#context.output.json) this.#context.output.document(envelope);
    const event = readKnownEvent(envelope);
    if (event === null) return null;
    this.#person?.react(event);
    if (!this.#context.output.json) this.#show(event);
    if (event.type === 'task.parked' && this.#person === null && event.payload.state !== 'waiting_children') {
      throw explainWaiting(event.payload.waitingFor, task);
    }
    return exitCodeOf(event, this.#interrupts.wasPressed);
  }

  #show(event: KnownEvent): void {
    if (this.#person?.isAsking === true) this.#held.push(event);
    else this.#view.show(event);
  }

  #showHeld(): void {
    for (const event of this.#held.splice(0)) this.#view.show(event);
  }

  async #cancel(): Promise<void> {
    if (this.#taskId === null) return;
    this.#context.output.note('Cancelling. Ctrl-C again quits at once and leaves the task to the server.');
    try {
      await this.#context.api.cancelTask(this.#taskId);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const exitCode = error instanceof CliError ? error.exitCode : EXIT.failed;
      const hint = `Cancel it later with "${commandLine(`cancel ${this.#taskId}`)}".`;
      this.#failure = new CliError(exitCode, 'cli.not-cancelled', `The task goes on: ${why}`, hint);
      this.#stop.abort();
    }
  }
}

function exitCodeOf(event: KnownEvent, wasInterrupted: boolean): ExitCode | null {
  switch (event.type) {
    case 'task.completed':
      return event.payload.success ? EXIT.done : EXIT.failed;
    case 'task.failed':
      return EXIT.failed;
    case 'task.cancelled':
      return wasInterrupted ? EXIT.cancelled : EXIT.failed;
    default:
      return null;
  }
}
