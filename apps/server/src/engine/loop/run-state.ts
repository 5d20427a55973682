import type { EventPayload, WaitingFor } from '@vitto/contracts';
import { readToolCalls, type TurnCall } from '../models/tool-input.ts';
import type { AssistantPart } from '../models/model.ts';
import { DEGRADE_QUESTION } from './guest-claim.ts';
import type { FoldEvent } from './task-journal.ts';
import type { CompletedCall } from './stuck.ts';

/** One call of the last turn that has no result yet, with what the journal says of it. */
export interface OpenCall extends TurnCall {
  turn: number;
  /** It was journaled as intended: its handler may have run. */
  started: EventPayload<'tool.starting'> | null;
  /** It parked the task. */
  parkedOn: WaitingFor | null;
  approval: {
    id: string;
    argumentsHash: string;
    decision: 'pending' | 'approved' | 'refused' | 'expired' | 'void';
    note: string | null;
  } | null;
}

/** What the loop must know of its own task beside the transcript, folded from the same events. */
export class RunState {
  readonly taskId: string;
  iteration = 0;
  turn = 0;
  /** Budgets whose 80 % note has been given. */
  readonly warned = new Set<string>();
  readonly openCalls = new Map<string, OpenCall>();
  /** Calls with their results, newest last, since the last corrective note. */
  recentCalls: CompletedCall[] = [];
  /** Turns in a row without a call and without new text. */
  idleTurns = 0;
  nudges = 0;
  /** Seq of the newest message from the user. */
  inputSeq = 0;
  lastText = '';
  lastFinish = '';
  /** Seq up to which the user's messages have been given to the model. */
  readThrough = 0;
  /** Seq of the newest message that is a wish, not the answer to a question. */
  #wishSeq = 0;
  /** The newest completed turn is a final answer to what had been read until then. */
  #hasAnswer = false;
  /** A call of the newest turn did not run as the model meant it. */
  hasRefusal = false;
  hasGate = false;
  hasCompletedTurn = false;
  isDegraded = false;
  /** The VM that the task had last; `null`: none yet. */
  vm: EventPayload<'vm.acquired'> | null = null;
  /** The task's claim on it has neither been let go nor lost. */
  isVmHeld = false;
  /** It was lost, and the next one has not come yet. */
  isVmLost = false;
  /** Who started the task lets its commands run in the process sandbox where no VM can be had. */
  mayDegrade = false;
  /** The image that who started the task wants its VM made from. */
  template: string | null = null;
  /** The question whether the process sandbox will do, when it was asked and not taken back. */
  degradation: { id: string; decision: 'pending' | 'approved' | 'refused' } | null = null;
  /** The rounds of sub-Vittos that the task has deployed, in order. */
  readonly rounds: { callId: string; subTaskIds: string[] }[] = [];
  /** Sub-Vittos that have not ended. */
  readonly openSubVittos = new Set<string>();
  /** Sub-Vittos whose results the model has not been given, in the order they were deployed. */
  readonly unreadSubVittos = new Set<string>();
  /** It has been told that there are such results and all are there. */
  #isToldOfResults = false;
  /** It answered where only `task_complete` ends the task. */
  mustClose = false;
  /** What the provider counted for the newest request, and how long that was. */
  measured: { inputTokens: number; bytes: number } | null = null;
  readonly callIds = new Set<string>();
  /** Events since the newest park, for the call that waits. */
  sincePark: FoldEvent[] = [];

  constructor(taskId: string) {
    this.taskId = taskId;
  }

  /** The model has answered, and nothing has come since that it has not read: no word of the user, no results. */
  get isAnswered(): boolean {
    return this.#hasAnswer && this.#wishSeq <= this.readThrough && !this.hasUnreadResults;
  }

  /** All sub-Vittos have ended, and the model has neither been given the results of all nor told that they are there. */
  get hasUnreadResults(): boolean {
    return this.unreadSubVittos.size > 0 && this.openSubVittos.size === 0 && !this.#isToldOfResults;
  }

  wish(seq: number): void {
    this.#wishSeq = seq;
  }
  answer(isFinal: boolean): void {
    this.#hasAnswer = isFinal;
  }

  /** An answer does not end this task: the model is told with its next turn. */
  askToClose(): void {
    this.mustClose = true;
    this.answer(false);
  }

  endSubVitto(id: string): void {
    this.openSubVittos.delete(id);
    this.#isToldOfResults = false;
  }
  /** Only the note itself counts: an end may stand before an iteration in the journal that knew nothing of it. */
  readNotes(notes: readonly string[]): void {
    this.#isToldOfResults ||= notes.includes(UNREAD_RESULTS);
  }

  apply(event: FoldEvent): void {
    if (event.taskId !== this.taskId) return;
    this.sincePark.push(event);
    const handler = HANDLERS[event.type];
    handler?.(this, event.payload as never, event.seq);
    if (this.sincePark.length > 500) this.sincePark = this.sincePark.slice(-250);
  }
}

const HANDLERS: Record<string, (state: RunState, payload: never, seq: number) => void> = {
  'user.message': (state, payload: EventPayload<'user.message'>, seq) => {
    state.inputSeq = seq;
    state.mayDegrade ||= payload.mayDegrade === true;
    state.template ??= payload.template ?? null;
    // An answer to a question is that call's result, not a new wish.
    if (payload.answers === undefined) state.wish(seq);
  },
  'gate.evaluated': (state) => {
    state.hasGate = true;
  },
  'vm.degraded': (state) => {
    state.isDegraded = true;
  },
  'vm.acquired': (state, payload: EventPayload<'vm.acquired'>) => {
    state.vm = payload;
    state.isVmHeld = true;
    state.isVmLost = false;
  },
  'vm.released': (state) => {
    state.isVmHeld = false;
  },
  'vm.lost': (state) => {
    state.isVmHeld = false;
    state.isVmLost = true;
  },
  'orchestrator.round': (state, payload: EventPayload<'orchestrator.round'>) => {
    state.rounds.push({ callId: payload.callId ?? '', subTaskIds: payload.subTaskIds });
    for (const id of payload.subTaskIds) {
      state.openSubVittos.add(id);
      state.unreadSubVittos.add(id);
    }
  },
  'subvitto.completed': (state, payload: EventPayload<'subvitto.completed'>) => {
    state.endSubVitto(payload.id);
  },
  'subvitto.failed': (state, payload: EventPayload<'subvitto.failed'>) => {
    state.endSubVitto(payload.id);
  },
  'agent.iteration': (state, payload: EventPayload<'agent.iteration'>) => {
    state.readNotes(payload.notes ?? []);
    state.mustClose = false;
    state.iteration = payload.iteration;
    state.readThrough = payload.inputSeq;
    state.answer(false);
    for (const budget of (payload as { warned?: string[] }).warned ?? []) state.warned.add(budget);
  },
  'agent.turn_completed': applyTurn,
  'tool.starting': (state, payload: EventPayload<'tool.starting'>) => {
    const call = state.openCalls.get(payload.callId);
    if (call !== undefined) call.started = payload;
  },
  'approval.requested': (state, payload: EventPayload<'approval.requested'>) => {
    if (payload.tool === DEGRADE_QUESTION) {
      state.degradation = { id: payload.approvalId, decision: 'pending' };
      return;
    }
    const call = state.openCalls.get(payload.callId);
    if (call === undefined) return;
    call.approval = {
      id: payload.approvalId,
      argumentsHash: payload.argumentsHash,
      decision: 'pending',
      note: null,
    };
  },
  'approval.decided': (state, payload: EventPayload<'approval.decided'>) => {
    if (state.degradation?.id === payload.approvalId) {
      // Taken back (a VM came, the user wrote instead): it may be asked again. Silence is no yes.
      if (payload.decision === 'void') state.degradation = null;
      else state.degradation.decision = payload.decision === 'approved' ? 'approved' : 'refused';
      return;
    }
    const approval = state.openCalls.get(payload.callId)?.approval;
    if (approval?.id !== payload.approvalId) return;
    approval.decision = payload.decision;
    approval.note = payload.note ?? null;
  },
  'tool.called': (state, payload: EventPayload<'tool.called'>) => {
    const call = state.openCalls.get(payload.callId);
    if (call === undefined) return;
    state.openCalls.delete(payload.callId);
    state.hasRefusal ||=
      // The model has not seen the answer that it waited for, or what its sub-Vittos found.
      call.parkedOn !== null ||
      GIVES_RESULTS.has(call.toolName) ||
      (payload.status !== 'ok' && payload.status !== 'error' && payload.status !== 'timeout');
    if (GIVES_RESULTS.has(call.toolName))
      for (const id of readGiven(payload.data)) state.unreadSubVittos.delete(id);
    state.recentCalls.push({
      turn: payload.turn,
      signature: JSON.stringify([call.toolName, call.input]),
      tool: call.toolName,
      result: `${payload.status}\n${payload.text}`,
    });
    if (state.recentCalls.length > 60) state.recentCalls.shift();
  },
  'task.parked': (state, payload: EventPayload<'task.parked'>) => {
    state.sincePark = [];
    const { waitingFor } = payload;
    if (waitingFor.kind === 'approval') return;
    const call = state.openCalls.get(waitingFor.callId);
    if (call !== undefined) call.parkedOn = waitingFor;
  },
  'task.stuck': (state, payload: EventPayload<'task.stuck'>) => {
    if (payload.action !== 'nudged') return;
    state.nudges += 1;
    state.recentCalls = [];
    state.idleTurns = 0;
  },
};

/** What the model is told when results of sub-Vittos are there that no call has given it. */
export const UNREAD_RESULTS =
  'All your sub-Vittos have ended. Call wait_for_agents to read their results before you sum up.';

/** Calls that give the results of sub-Vittos when these have ended. */
const GIVES_RESULTS = new Set(['deploy_agents', 'wait_for_agents']);
/** The sub-Vittos whose results a call has given; none for an interim answer. */
function readGiven(data: unknown): string[] {
  const { agents } = (data ?? {}) as { agents?: unknown };
  return Array.isArray(agents) ? (agents as { id: string }[]).map(({ id }) => id) : [];
}

/** Ends of a turn that are no end of an answer. */
const UNFINISHED = new Set(['length', 'content-filter', 'error']);

function applyTurn(state: RunState, payload: EventPayload<'agent.turn_completed'>): void {
  const content = payload.message.content as unknown as AssistantPart[];
  const calls = readToolCalls(content);
  const text = content
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('')
    .trim();
  const isIdle = calls.length === 0 && (text === '' || text === state.lastText);
  state.idleTurns = isIdle ? state.idleTurns + 1 : 0;
  state.turn = payload.turn;
  state.hasCompletedTurn = true;
  state.lastText = text === '' ? state.lastText : text;
  state.lastFinish = payload.finishReason;
  state.hasRefusal = false;
  state.answer(calls.length === 0 && text !== '' && !UNFINISHED.has(payload.finishReason));
  state.openCalls.clear();
  for (const call of calls) {
    state.callIds.add(call.callId);
    state.openCalls.set(call.callId, {
      ...call,
      turn: payload.turn,
      started: null,
      parkedOn: null,
      approval: null,
    });
  }
}
