import type { EventPayload, KnownEvent } from '@vitto/contracts';
import { ask } from './ask.ts';
import type { Context } from './context.ts';
import { readDecision } from './read-decision.ts';
import { showApproval } from './render/waiting.ts';
import { toPlainText } from './text/terminal-text.ts';

/** A question on the screen, or in the line for it. `id` is the approval's, or the call's of `ask_user`. */
interface Open {
  id: string;
  ask: (signal: AbortSignal) => Promise<void>;
}

/**
 * Asks the person at the terminal what a task waits for, one question after the other, and hands the answers in.
 * A question that was answered elsewhere, has expired or lost its task is taken back.
 */
export class PersonInTheLoop {
  readonly #context: Context;
  readonly #task: { taskId: string; conversationId: string };
  readonly #hooks: { onInterrupt: () => void; onIdle: () => void };
  #queue: Open[] = [];
  #current: { id: string; takenBack: AbortController } | null = null;

  constructor(
    context: Context,
    task: { taskId: string; conversationId: string },
    hooks: { onInterrupt: () => void; onIdle: () => void },
  ) {
    this.#context = context;
    this.#task = task;
    this.#hooks = hooks;
  }

  get isAsking(): boolean {
    return this.#current !== null;
  }

  react(event: KnownEvent): void {
    switch (event.type) {
      case 'approval.requested': {
        const approval = event.payload;
        return this.#add({ id: approval.approvalId, ask: (signal) => this.#askApproval(approval, signal) });
      }
      case 'approval.decided':
        return this.#takeBack(event.payload.approvalId);
      case 'task.parked': {
        const { waitingFor } = event.payload;
        if (waitingFor.kind !== 'input') return;
        return this.#add({ id: waitingFor.callId, ask: (signal) => this.#askInput(waitingFor, signal) });
      }
      case 'user.message':
        return event.payload.answers === undefined ? undefined : this.#takeBack(event.payload.answers);
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
        return this.close();
      default:
    }
  }

  close(): void {
    this.#queue = [];
    this.#current?.takenBack.abort();
  }

  #add(open: Open): void {
    this.#queue.push(open);
    void this.#askNext();
  }

  #takeBack(id: string): void {
    this.#queue = this.#queue.filter((open) => open.id !== id);
    if (this.#current?.id === id) this.#current.takenBack.abort();
  }

  async #askNext(): Promise<void> {
    if (this.#current !== null) return;
    const next = this.#queue.shift();
    if (next === undefined) return this.#hooks.onIdle();
    const takenBack = new AbortController();
    this.#current = { id: next.id, takenBack };
    this.#context.output.pauseStatus(true);
    try {
      await next.ask(takenBack.signal);
    } finally {
      this.#current = null;
      this.#context.output.pauseStatus(false);
    }
    await this.#askNext();
  }

  async #askApproval(approval: EventPayload<'approval.requested'>, signal: AbortSignal): Promise<void> {
    const { output, api } = this.#context;
    output.notice(output.colors.yellow('Vitto asks before it runs this:'));
    for (const line of showApproval(approval)) output.notice(line);
    const prompt = 'Run it? [y]es once, [n]o, or write why not: ';
    while (!signal.aborted) {
      const line = await this.#ask(prompt, signal);
      if (line === null) return;
      const decision = readDecision(line);
      if (decision === null) continue;
      const { argumentsHash } = approval;
      const isTaken = await this.#handIn(() =>
        api.decideApproval(approval.approvalId, { ...decision, argumentsHash }),
      );
      if (isTaken) return;
    }
  }

  async #askInput(
    waitingFor: { callId: string; question: string; choices?: string[] | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const { output, api } = this.#context;
    output.notice(output.colors.yellow(toPlainText(waitingFor.question)));
    const choices = waitingFor.choices ?? [];
    choices.forEach((choice, at) => output.notice(`  ${at + 1}. ${toPlainText(choice)}`));
    while (!signal.aborted) {
      const line = await this.#ask('Your answer: ', signal);
      if (line === null) return;
      if (line.trim() === '') continue;
      const text = (/^\d+$/.test(line.trim()) ? choices[Number(line) - 1] : undefined) ?? line;
      const { conversationId } = this.#task;
      const isTaken = await this.#handIn(() =>
        api.sendMessage(conversationId, { text, answers: waitingFor.callId }),
      );
      if (isTaken) return;
    }
  }

  async #ask(prompt: string, signal: AbortSignal): Promise<string | null> {
    const { onInterrupt } = this.#hooks;
    const line = await ask({ prompt, signal, onInterrupt, dropsTypeAhead: true });
    if (line === null && !signal.aborted) {
      // Ctrl-D: the person walks away from the question, so the task must not wait for them.
      onInterrupt();
      return null;
    }
    if (line === null) this.#context.output.notice('');
    return line;
  }

  /** False when it was not taken, so that it can be said again. */
  async #handIn(send: () => Promise<unknown>): Promise<boolean> {
    try {
      await send();
      return true;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#context.output.notice(toPlainText(error.message));
      return 'code' in error && /^approval\.(decided|expired|changed|not-found)$/.test(String(error.code));
    }
  }
}
