import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { isEventType, type EventPayload, type EventType } from '@vitto/contracts';
import type { AssistantPart } from '../models/model.ts';
import { readToolCalls, type TurnCall } from '../models/tool-input.ts';
import {
  attachmentsOf,
  toReferencePart,
  weighMessage,
  type Attachment,
} from './attachments/attachment-part.ts';
import { frameUntrusted } from './frame-untrusted.ts';
import { shortenResults } from './shorten-results.ts';
import type { FoldEvent } from './task-journal.ts';

interface Entry {
  message: LanguageModelV4Message;
  /** Journal positions of the first and the last event in it. */
  first: number;
  last: number;
  /** Bytes of its JSON and of the files that came with it, for estimates. */
  bytes: number;
  taskId: string;
  /** Of a message that the user wrote. */
  messageId: string | null;
  /** It holds text from outside. */
  isUntrusted: boolean;
}

/** A user's message that the model has not been given yet. */
interface UnreadMessage {
  seq: number;
  position: number;
  taskId: string;
  messageId: string;
  message: LanguageModelV4Message;
  /** It holds text from outside. */
  isUntrusted: boolean;
}

/** A turn whose calls do not all have their results yet. */
interface OpenTurn {
  turn: TurnCall[];
  results: Map<string, EventPayload<'tool.called'>>;
  first: number;
  last: number;
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
  #unread: UnreadMessage[] = [];
  #notes: string[] = [];
  /** Where the oldest of them was given. */
  #notesFrom = Number.POSITIVE_INFINITY;
  /** Messages that were folded, so that one that is read twice counts once. */
  readonly #seen = new Set<string>();
  /** Ids of all calls in the conversation. */
  readonly callIds = new Set<string>();
  #calls: OpenTurn | null = null;

  /** Bytes of all messages as JSON, with what their files add to a request. */
  get bytes(): number {
    return this.#bytes;
  }
  /** How many messages there are. */
  get length(): number {
    return this.#entries.length;
  }
  /** Bytes of what the user has written and the model has not been given. */
  get unreadBytes(): number {
    return this.#unread.reduce((sum, { message }) => sum + weighMessage(message), 0);
  }
  /** True when the user has written something that the model has not been given. */
  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  /** True when the model has been given text from outside, or is about to be: results of tools, files of the user. */
  get isTainted(): boolean {
    return (
      this.#entries.some((entry) => entry.isUntrusted) ||
      this.#unread.some(({ message, isUntrusted }) => isUntrusted || attachmentsOf(message).length > 0)
    );
  }

  /**
   * The messages for the next request, files as references. Not before all calls of the last turn have their results. Where they would
   * have more than `maxBytes`, long results are shown shorter; the whole of each is in the journal.
   */
  messages(maxBytes = Number.POSITIVE_INFINITY): LanguageModelV4Message[] {
    const messages = this.#entries.map((entry) => entry.message);
    const shown = this.#bytes > maxBytes ? shortenResults(messages, this.#bytes, maxBytes) : messages;
    return this.#notes.length === 0 ? shown : [...shown, toNote(this.#notes)];
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
    const { attachments = [], answers, messageId } = payload;
    // The answer to a question becomes the result of the call that asked it; what came with it stands beside.
    if (answers !== undefined && attachments.length === 0) return;
    const { seq, position, taskId } = event;
    const key = `${taskId}:${seq}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (payload.replaces !== undefined) this.#dropFrom(payload.replaces);
    const said = answers === undefined ? payload.text : 'Files that came with my answer:';
    const isUntrusted = payload.untrusted !== undefined;
    const text = isUntrusted ? frameUntrusted(said, payload.untrusted ?? '', taskId, messageId) : said;
    const message = toUser(
      text,
      attachments.map((ref) => ({ ...ref, taskId })),
    );
    const isTainted = isUntrusted || payload.tainted === true;
    this.#unread.push({ seq, position, taskId, messageId, message, isUntrusted: isTainted });
  }

  /** Forgets a message and all that came after it, also what came before the model was given it: another one stands in for it. */
  #dropFrom(messageId: string): void {
    const replaced = this.#entries.find((entry) => entry.messageId === messageId);
    if (replaced === undefined) return;
    const start = this.#entries.findIndex((entry) => entry.first >= replaced.first);
    this.#entries = this.#entries.slice(0, start);
    this.#bytes = this.#entries.reduce((sum, entry) => sum + entry.bytes, 0);
    this.#unread = [];
    this.#calls = null;
    this.#notes = [];
    this.#notesFrom = Number.POSITIVE_INFINITY;
  }

  #beginIteration(event: FoldEvent, payload: EventPayload<'agent.iteration'>): void {
    this.#settleCalls();
    const due = this.#unread.filter(
      (message) => message.taskId !== event.taskId || message.seq <= payload.inputSeq,
    );
    this.#unread = this.#unread.filter((message) => !due.includes(message));
    for (const message of due) this.#pushUser(message);
    // What an iteration without a turn (a crash) was to say is said with the next one.
    if (payload.notes !== undefined) this.#notesFrom = Math.min(this.#notesFrom, event.position);
    this.#notes = [...new Set([...this.#notes, ...(payload.notes ?? [])])];
  }

  #addTurn(event: FoldEvent, payload: EventPayload<'agent.turn_completed'>): void {
    this.#settleCalls();
    if (this.#notes.length > 0) this.#push(toNote(this.#notes), at(event.position), event.taskId);
    this.#notes = [];
    this.#notesFrom = Number.POSITIVE_INFINITY;
    const content = payload.message.content as unknown as AssistantPart[];
    if (content.length === 0) return;
    this.#push({ role: 'assistant', content }, at(event.position), event.taskId);
    const turn = readToolCalls(content);
    for (const call of turn) this.callIds.add(call.callId);
    if (turn.length > 0)
      this.#calls = { turn, results: new Map(), taskId: event.taskId, ...at(event.position) };
  }

  #addResult(event: FoldEvent, payload: EventPayload<'tool.called'>): void {
    const calls = this.#calls;
    if (calls === null || !calls.turn.some((call) => call.callId === payload.callId)) return;
    calls.results.set(payload.callId, payload);
    calls.last = event.position;
    if (calls.results.size === calls.turn.length) this.#settleCalls();
  }

  /** Closes the open calls: results in the model's order, whatever order they finished in. */
  #settleCalls(): void {
    const calls = this.#calls;
    if (calls === null) return;
    this.#calls = null;
    const content = calls.turn.map((call) => toResult(call, calls.results.get(call.callId), calls.taskId));
    // From the call on: what stands between a call and its results goes with neither of them.
    this.#push({ role: 'tool', content }, { first: calls.first, last: calls.last }, calls.taskId, {
      isUntrusted: [...calls.results.values()].some((result) => result.untrusted !== undefined),
    });
  }

  #endTask(event: FoldEvent, note: string | null): void {
    this.#settleCalls();
    for (const message of this.#unread) this.#pushUser(message);
    this.#unread = [];
    this.#notes = [];
    this.#notesFrom = Number.POSITIVE_INFINITY;
    if (note !== null) this.#push(toNote([note]), at(event.position), event.taskId);
  }

  #compact(event: FoldEvent, payload: EventPayload<'phase.completed'>): void {
    const { summary, throughPosition } = payload;
    if (payload.phase !== 'compaction' || summary === undefined || throughPosition === undefined) return;
    const kept = this.#entries.filter((entry) => entry.first > throughPosition);
    this.#entries = [];
    this.#bytes = 0;
    this.#push(toNote([summary]), at(throughPosition), event.taskId, {
      isUntrusted: payload.tainted === true,
    });
    for (const entry of kept) {
      this.#entries.push(entry);
      this.#bytes += entry.bytes;
    }
  }

  #pushUser({ message, position, taskId, messageId, isUntrusted }: UnreadMessage): void {
    this.#push(message, at(position), taskId, {
      messageId,
      isUntrusted: isUntrusted || attachmentsOf(message).length > 0,
    });
  }

  #push(
    message: LanguageModelV4Message,
    { first, last }: { first: number; last: number },
    taskId: string,
    marks: Partial<Pick<Entry, 'messageId' | 'isUntrusted'>> = {},
  ): void {
    const bytes = weighMessage(message);
    this.#entries.push({
      message,
      first,
      last,
      bytes,
      taskId,
      messageId: null,
      isUntrusted: false,
      ...marks,
    });
    this.#bytes += bytes;
  }

  /**
   * Where the oldest part may be cut off so that at most `keepBytes` stay, or as little more as can be: after a turn
   * with all its results, never within the newest one, and never past a message that the model has not been given.
   * All that is cut lies before `throughPosition`, all that stays lies after it. `null` when nothing can be cut.
   */
  findCut(
    keepBytes: number,
  ): { throughPosition: number; cut: LanguageModelV4Message[]; isTainted: boolean } | null {
    const entries = this.#entries;
    const newest = entries.findLastIndex((entry) => entry.message.role === 'assistant');
    const end = Math.max(0, newest < 0 ? entries.length - 1 : newest);
    const unread = Math.min(this.#notesFrom, ...this.#unread.map((message) => message.position));
    let best: number | null = null;
    let through = 0;
    let kept = this.#bytes;
    for (let start = 1; start <= end; start += 1) {
      const before = entries[start - 1];
      if (before === undefined) break;
      kept -= before.bytes;
      through = Math.max(through, before.last);
      const isWhole = entries.slice(start).every((entry) => entry.first > through) && through < unread;
      if (!isWhole) continue;
      best = start;
      if (kept <= keepBytes) break;
    }
    if (best === null) return null;
    const cut = entries.slice(0, best);
    return {
      throughPosition: Math.max(...cut.map((entry) => entry.last)),
      cut: cut.map((entry) => entry.message),
      isTainted: cut.some((entry) => entry.isUntrusted),
    };
  }
}

function at(position: number): { first: number; last: number } {
  return { first: position, last: position };
}

function read<T extends EventType>(event: FoldEvent): Payloads[T] {
  return event.payload as never;
}
type Payloads = { [T in EventType]: EventPayload<T> };

function toUser(text: string, files: Attachment[]): LanguageModelV4Message {
  return { role: 'user', content: [{ type: 'text', text }, ...files.map(toReferencePart)] };
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
