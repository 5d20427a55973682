import type { EventPayload, KnownEvent } from '@vitto/contracts';
import type { Output } from '../output.ts';
import { formatDuration } from '../text/format.ts';
import { lastState, TerminalText, toPlainLine, toPlainText } from '../text/terminal-text.ts';
import { noticeOf } from './notices.ts';
import { summaryOf } from './summary.ts';
import { describeCall, toolCard } from './tool-card.ts';

export interface TaskViewOptions {
  /**
   * Write text as it comes. Else a step's text is written when the step is done, so that what an attempt said before
   * it broke off never stands in a file or a pipe.
   */
  isLive: boolean;
}

/** Shows one task while it runs: the answer on stdout; cards, notices and the summary on stderr. */
export class TaskView {
  readonly #output: Output;
  readonly #isLive: boolean;
  readonly #calls = new Map<string, { description: string; at: number }>();
  readonly #live = new Map<string, { cleaner: TerminalText; line: string }>();
  #answer = new TerminalText();
  /** What the deltas of this attempt have said so far. */
  #said = '';
  #lastText = '';
  #hasText = false;
  #isInTurn = false;
  #isScripted = false;
  #startedAt = Date.now();
  #ticker: NodeJS.Timeout | undefined;

  constructor(output: Output, options: TaskViewOptions) {
    this.#output = output;
    this.#isLive = options.isLive;
    if (output.isTalkative) this.#ticker = setInterval(() => this.#tick(), 1000).unref();
  }

  show(event: KnownEvent): void {
    switch (event.type) {
      case 'task.created':
        this.#startedAt = Date.parse(event.at);
        return;
      case 'agent.text':
        return this.#showDelta(event.payload.delta);
      case 'agent.reasoning':
        return this.#showLive('thinking', event.payload.delta);
      case 'agent.turn_completed':
        return this.#showTurn(event.payload);
      case 'tool.starting':
        return this.#showStart(event.payload);
      case 'tool.progress':
        return this.#showLive(event.payload.callId, event.payload.text);
      case 'tool.called':
        return this.#showCall(event.payload);
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
        return this.#showEnd(event);
      default:
        return this.#showNotice(event);
    }
  }

  /** Stops the status line. */
  stop(): void {
    clearInterval(this.#ticker);
    this.#output.clearStatus();
    this.#output.endLine();
  }

  #showDelta(delta: string): void {
    if (!this.#isLive) return;
    this.#said += delta;
    this.#showText(delta);
  }

  #showTurn(turn: EventPayload<'agent.turn_completed'>): void {
    this.#labelScripted(turn.model);
    this.#flushLive('thinking');
    const text = turn.message.content
      .map((part) => (part.type === 'text' ? textOf(part['text']) : ''))
      .join('');
    // The journal keeps no delta that the finished step says anyway: the rest of the text comes from here.
    if (text.startsWith(this.#said)) this.#showText(text.slice(this.#said.length));
    else {
      this.#restartText();
      this.#showText(text);
    }
    this.#output.text(this.#isInTurn ? this.#answer.end() : '');
    if (text.trim() !== '') this.#lastText = text;
    this.#restartText();
  }

  #showText(piece: string): void {
    if (piece.trim() === '' && !this.#isInTurn) return;
    const text = this.#answer.push(piece).replaceAll('\r', '\n');
    if (text === '') return;
    this.#separate();
    this.#output.text(text);
  }

  /** An empty line between what two steps said. */
  #separate(): void {
    if (this.#isInTurn) return;
    if (this.#hasText) this.#output.line();
    this.#isInTurn = true;
    this.#hasText = true;
  }

  #labelScripted(model: string): void {
    if (this.#isScripted || !/^(script|replay):/.test(model)) return;
    this.#isScripted = true;
    this.#output.notice(
      this.#output.colors.yellow(
        toPlainLine(`Scripted: the answers come from ${model}, not from a live model.`),
      ),
    );
  }

  #showStart({ callId, tool, arguments: args }: EventPayload<'tool.starting'>): void {
    this.#calls.set(callId, { description: describeCall(tool, args), at: Date.now() });
    this.#tick();
  }

  #showCall(called: EventPayload<'tool.called'>): void {
    this.#flushLive(called.callId);
    const description = this.#calls.get(called.callId)?.description ?? describeCall(called.tool, undefined);
    this.#calls.delete(called.callId);
    this.#tick();
    if (called.tool === 'task_complete') return;
    const card = toolCard(called, description);
    this.#output.note(
      called.status === 'ok' ? this.#output.colors.dim(card) : this.#output.colors.yellow(card),
    );
  }

  /** Command output and thinking, line by line; a progress bar shows the state it ended a line with. */
  #showLive(source: string, text: string): void {
    if (!this.#output.verbose) return;
    const live = this.#live.get(source) ?? { cleaner: new TerminalText(), line: '' };
    this.#live.set(source, live);
    const lines = (live.line + live.cleaner.push(text)).split('\n');
    live.line = lastState(lines.pop() ?? '');
    for (const line of lines) this.#output.note(this.#output.colors.dim(`  │ ${lastState(line)}`));
  }

  #flushLive(source: string): void {
    const rest = this.#live.get(source)?.line ?? '';
    if (rest !== '') this.#output.note(this.#output.colors.dim(`  │ ${rest}`));
    this.#live.delete(source);
  }

  #showNotice(event: KnownEvent): void {
    if (event.type === 'model.retry' || event.type === 'task.resumed') this.#restartText();
    const notice = noticeOf(event);
    if (notice === null) return;
    if (notice.isImportant) this.#output.notice(this.#output.colors.yellow(notice.text));
    else this.#output.note(this.#output.colors.dim(notice.text));
  }

  /** What comes next begins on a line of its own: another step, or another attempt at this one. */
  #restartText(): void {
    this.#answer = new TerminalText();
    this.#said = '';
    this.#output.endLine();
    this.#isInTurn = false;
  }

  #showEnd(event: Extract<KnownEvent, { type: 'task.completed' | 'task.failed' | 'task.cancelled' }>): void {
    if (event.type === 'task.completed') this.#showResult(event.payload);
    this.stop();
    if (event.type === 'task.failed') this.#output.error(event.payload.error);
    if (event.type === 'task.cancelled') {
      const reason = event.payload.reason === undefined ? '' : `: ${event.payload.reason}`;
      this.#output.notice(toPlainLine(`Cancelled by ${event.payload.by}${reason}.`));
    }
    for (const line of summaryOf(event, this.#isScripted)) this.#output.note(this.#output.colors.dim(line));
  }

  #showResult({ result }: EventPayload<'task.completed'>): void {
    this.#output.endLine();
    if (result.trim() === '' || this.#lastText.trim().endsWith(result.trim())) return;
    this.#isInTurn = false;
    this.#separate();
    this.#output.line(toPlainText(result).trimEnd());
  }

  #tick(): void {
    const running = [...this.#calls.values()].at(-1);
    const now = Date.now();
    const what =
      running === undefined ? 'working' : `${running.description} · ${formatDuration(now - running.at)}`;
    this.#output.status(`… ${what} · ${formatDuration(now - this.#startedAt)} in all · Ctrl-C stops`);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
