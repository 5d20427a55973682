import type {
  ActionDomain,
  ArtifactRef,
  EventEnvelope,
  EventPayload,
  Failure,
  KnownEvent,
  Risk,
  Spending,
  TaskState,
  ToolStatus,
  Usage,
  Verdict,
} from '@vitto/contracts';
import type { AgentsItem } from './agents-item.ts';
import type { ItemBase } from './item-base.ts';

/** What a conversation looks like: a flat list of items in the order in which they first happened, and its tasks. */
export interface ConversationView {
  readonly items: readonly Item[];
  readonly tasks: ReadonlyMap<string, TaskView>;
  /** Where an item stands in `items`, by its key and its other names. */
  readonly index: ReadonlyMap<string, number>;
}

export interface TaskView {
  readonly id: string;
  readonly parentId: string | null;
  readonly depth: number;
  readonly state: TaskState;
  readonly startedAt: string | null;
  /** Its journal is here from the first event on, so that what is summed up from it is right. */
  readonly isWhole: boolean;
  readonly spending: Spending;
  /** True once a scripted model or a recording has answered in it. */
  readonly isScripted: boolean;
  /** The turn that is being written, or was written last. */
  readonly turn: number;
}

export type Item =
  | UserItem
  | AnswerItem
  | ToolItem
  | AgentsItem
  | ApprovalItem
  | QuestionItem
  | NoticeItem
  | EndItem
  | RawItem;

export interface UserItem extends ItemBase {
  readonly kind: 'user';
  readonly messageId: string;
  readonly text: string;
  readonly attachments: readonly ArtifactRef[];
  /** It answered a question, so no other message can stand in for it. */
  readonly isAnswer: boolean;
}

/** One turn of the model: text as it streams, then the whole message. */
export interface AnswerItem extends ItemBase {
  readonly kind: 'answer';
  readonly turn: number;
  readonly state: 'streaming' | 'done' | 'interrupted';
  readonly attempt: number;
  readonly text: string;
  readonly reasoning: string;
  readonly discarded: readonly DiscardedAttempt[];
  readonly model: string | null;
  /** What the whole turn used; `null` until it is whole. */
  readonly used: TurnUse | null;
}
export interface TurnUse {
  readonly usage: Usage;
  /** `null`: no price is known. */
  readonly costUsd: number | null;
  readonly durationMs: number;
}
export interface DiscardedAttempt {
  readonly attempt: number;
  readonly text: string;
  /** A reason of `model.retry`, or `restart`, or `replaced`. */
  readonly reason: string;
  readonly message: string;
  readonly delayMs: number | null;
}

export type ToolState = 'waiting' | 'asking' | 'running' | ToolStatus;
export interface ToolItem extends ItemBase {
  readonly kind: 'tool';
  readonly callId: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly state: ToolState;
  readonly risk: Risk | null;
  readonly decision: { readonly verdict: Verdict; readonly reason: string } | null;
  readonly startedAt: string | null;
  readonly durationMs: number | null;
  /** Live output as it came, escapes and all; only while it runs: then the result speaks. */
  readonly output: string;
  readonly isOutputCut: boolean;
  readonly note: string | null;
  readonly text: string | null;
  readonly data: unknown;
  readonly artifacts: readonly ArtifactRef[];
  readonly untrusted: string | null;
  /** Where it ran, and how its VM came. */
  readonly ranOn: EventPayload<'tool.called'>['ranOn'] | null;
}

export interface ApprovalItem extends ItemBase {
  readonly kind: 'approval';
  readonly approvalId: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly argumentsHash: string;
  readonly reason: string;
  readonly risk: Risk;
  readonly domain: ActionDomain;
  readonly expiresAt: string;
  readonly decision: Pick<EventPayload<'approval.decided'>, 'decision' | 'by' | 'note'> | null;
  /** The task ended before anyone decided. */
  readonly isClosed: boolean;
}

export interface QuestionItem extends ItemBase {
  readonly kind: 'question';
  readonly callId: string;
  readonly question: string;
  readonly choices: readonly string[];
  /** One that the task has deployed asks it: the composer does not reach it. */
  readonly isOfAgent: boolean;
  readonly state: 'open' | 'answered' | 'closed';
}

/** Something to know of in one line; what it says is in its event. */
export interface NoticeItem extends ItemBase {
  readonly kind: 'notice';
  readonly event: KnownEvent;
}

export interface EndItem extends ItemBase {
  readonly kind: 'end';
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  readonly success: boolean;
  /** The final result, when it is not what the last answer already said. */
  readonly result: string | null;
  readonly artifacts: readonly ArtifactRef[];
  readonly error: Failure | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly spending: Spending | null;
  readonly isScripted: boolean;
}

/** An event of a type or shape that this version does not know. */
export interface RawItem extends ItemBase {
  readonly kind: 'raw';
  readonly event: EventEnvelope;
}

export const EMPTY_VIEW: ConversationView = { items: [], tasks: new Map(), index: new Map() };

/** A model that follows a script or plays a recording. */
export function isScriptedModel(id: string): boolean {
  return id.startsWith('script:') || id.startsWith('replay:');
}

/** Where an item stands whose first event this is. */
export function placeOf(
  event: Pick<EventEnvelope, 'taskId' | 'at' | 'position'>,
): Pick<ItemBase, 'taskId' | 'at' | 'position'> {
  return { taskId: event.taskId, at: event.at, position: event.position };
}
