import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { isEventType, type EventPayload, type EventType } from '@vitto/contracts';
import type { AssistantPart } from '../models/model.ts';
import { readToolCalls, type TurnCall } from '../models/tool-input.ts';
import { frameUntrusted } from './frame-untrusted.ts';
import type { FoldEvent } from './task-journal.ts';

interface Entry {
  message: LanguageModelV4Message;
  /** Journal position of the last event in it. */
  position: number;
  /** Bytes of its JSON, for estimates. */
  bytes: number;
  taskId: string;
}

/**
 * The model's context, folded from the journal of a conversation. Live and after a restart it is folded from the same
 * events and gives the same messages. A call always has a result: what is missing in a damaged or interrupted history
 * gets one that says so, since providers refuse a call without.
 */
export class Transcript {
  #entries: Entry[] = [];
  #bytes = 0;
  /** User messages that the model has not been given yet. */
  #unread: { seq: number; position: number; text: string; taskId: string }[] = [];
  #notes: string[] = [];
  #calls: {
    turn: TurnCall[];
    results: Map<string, EventPayload<'tool.called'>>;
    position: number;
    taskId: string;
  } | null = null;

  /** Bytes of all messages as JSON. */
  get bytes(): number {
    return this.#bytes;
  }
  /** How many messages there are. */
  get length(): number {
    return this.#entries.length;
  }
  /** True when the user has written something that the model has not been given. */
  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  /** The messages for the next request. Not before all calls of the last turn have their results. */
  messages(): LanguageModelV4Message[] {
    const messages = this.#entries.map((entry) => entry.message);
    return this.#notes.length === 0 ? messages : [...messages, toNote(this.#notes)];
  }

  apply(event: FoldEvent): void {
    if (!isEventType(event.type)) return;
    switch (event.type) {
      case 'user.message':
        return this.#addMessage(event, read<'user.message'>(event));
      case 'agent.iteration':
        return this.#beginIteration(event, read<'agent.iteration'>(event));
      case 'agent.turn_completed':
        return this.#addTurn(event, read<'agent.turn_completed'>(event));
      case 'tool.called':
        return this.#addResult(event, read<'tool.called'>(event));
      case 'task.completed':
      case 'task.cancelled':
        return this.#endTask(event, null);
      case 'task.failed':
        return this.#endTask(
          event,
          `The task before this message failed: ${read<'task.failed'>(event).error.message}`,
        );
      case 'phase.completed':
        return this.#compact(event, read<'phase.completed'>(event));
      default:
    }
  }

  #addMessage(event: FoldEvent, payload: EventPayload<'user.message'>): void {
    // The answer to a question becomes the result of the call that asked it.
    if (payload.answers !== undefined) return;
    const { seq, position, taskId } = event;
    this.#unread.push({ seq, position, taskId, text: payload.text });
  }

  #beginIteration(event: FoldEvent, payload: EventPayload<'agent.iteration'>): void {
    this.#settleCalls(event.position);
    const due = this.#unread.filter(
      (message) => message.taskId !== event.taskId || message.seq <= payload.inputSeq,
    );
    this.#unread = this.#unread.filter((message) => !due.includes(message));
    for (const message of due) this.#push(toUser(message.text), message.position, message.taskId);
    // Of an iteration that gave no turn (a crash), the notes are said again by the next one.
    this.#notes = payload.notes ?? [];
  }

  #addTurn(event: FoldEvent, payload: EventPayload<'agent.turn_completed'>): void {
    this.#settleCalls(event.position);
    if (this.#notes.length > 0) this.#push(toNote(this.#notes), event.position, event.taskId);
    this.#notes = [];
    const content = payload.message.content as unknown as AssistantPart[];
    if (content.length === 0) return;
    this.#push({ role: 'assistant', content }, event.position, event.taskId);
    const turn = readToolCalls(content);
    if (turn.length > 0)
      this.#calls = { turn, results: new Map(), position: event.position, taskId: event.taskId };
  }

  #addResult(event: FoldEvent, payload: EventPayload<'tool.called'>): void {
    const calls = this.#calls;
    if (calls === null || !calls.turn.some((call) => call.callId === payload.callId)) return;
    calls.results.set(payload.callId, payload);
    calls.position = event.position;
    if (calls.results.size === calls.turn.length) this.#settleCalls(event.position);
  }

  /** Closes the open calls: results in the model's order, whatever order they finished in. */
  #settleCalls(position: number): void {
    const calls = this.#calls;
    if (calls === null) return;
    this.#calls = null;
    const content = calls.turn.map((call) => toResult(call, calls.results.get(call.callId), calls.taskId));
    this.#push({ role: 'tool', content }, Math.min(position, calls.position), calls.taskId);
  }

  #endTask(event: FoldEvent, note: string | null): void {
    this.#settleCalls(event.position);
    for (const message of this.#unread) this.#push(toUser(message.text), message.position, message.taskId);
    this.#unread = [];
    this.#notes = [];
    if (note !== null) this.#push(toNote([note]), event.position, event.taskId);
  }

  #compact(event: FoldEvent, payload: EventPayload<'phase.completed'>): void {
    const { summary, throughPosition } = payload;
    if (payload.phase !== 'compaction' || summary === undefined || throughPosition === undefined) return;
    const kept = this.#entries.filter((entry) => entry.position > throughPosition);
    this.#entries = [];
    this.#bytes = 0;
    this.#push(toNote([summary]), throughPosition, event.taskId);
    for (const entry of kept) this.#push(entry.message, entry.position, entry.taskId);
  }

  #push(message: LanguageModelV4Message, position: number, taskId: string): void {
    const bytes = Buffer.byteLength(JSON.stringify(message));
    this.#entries.push({ message, position, bytes, taskId });
    this.#bytes += bytes;
  }

  /**
   * Where the oldest part may be cut off so that at most `keepBytes` stay: after a whole turn with all its results,
   * and never the newest message. `null` when there is nothing to cut.
   */
  findCut(keepBytes: number): { throughPosition: number; cut: LanguageModelV4Message[] } | null {
    let kept = 0;
    let start = this.#entries.length;
    while (start > 0 && kept + (this.#entries[start - 1]?.bytes ?? 0) <= keepBytes) {
      start -= 1;
      kept += this.#entries[start]?.bytes ?? 0;
    }
    start = Math.min(start, this.#entries.length - 1);
    // A result goes where its call goes.
    while (start > 0 && start < this.#entries.length && this.#entries[start]?.message.role === 'tool')
      start += 1;
    const last = this.#entries[start - 1];
    if (start <= 0 || last === undefined) return null;
    const through = last.position;
    const cut = this.#entries.filter((entry) => entry.position <= through);
    return { throughPosition: through, cut: cut.map((entry) => entry.message) };
  }
}

function read<T extends EventType>(event: FoldEvent): Payloads[T] {
  return event.payload as never;
}
type Payloads = { [T in EventType]: EventPayload<T> };

function toUser(text: string): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}
function toNote(notes: string[]): LanguageModelV4Message {
  return {
    role: 'user',
    content: [{ type: 'text', text: `<engine-note>\n${notes.join('\n\n')}\n</engine-note>` }],
  };
}

type ToolResultPart = Extract<
  Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>;
function toResult(
  call: TurnCall,
  result: EventPayload<'tool.called'> | undefined,
  taskId: string,
): ToolResultPart {
  const text =
    result?.text ?? 'Interrupted before a result was known. Check what it has done before you do it again.';
  const framed =
    result?.untrusted === undefined ? text : frameUntrusted(text, result.untrusted, taskId, call.callId);
  return {
    type: 'tool-result',
    toolCallId: call.callId,
    toolName: call.toolName,
    output: { type: result?.status === 'ok' ? 'text' : 'error-text', value: framed },
  };
}
