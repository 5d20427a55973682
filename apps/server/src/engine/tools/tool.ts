import type {
  ActionDomain,
  ArtifactRef,
  DeployAgents,
  GuestSession,
  Idempotency,
  KnownEvent,
  Risk,
  Tier,
  WaitingFor,
} from '@vitto/contracts';
import type { z } from 'zod';
import type { SubVittoRecord } from '../journal/sub-vitto.store.ts';

/**
 * A tool as a plugin registers it (specification 01, "Tools"). Pure data and one handler; the handler reaches the
 * world only through its context.
 */
export interface Tool<Input extends z.ZodType = z.ZodType> {
  /** `[a-zA-Z0-9_-]{1,64}`, unique. */
  name: string;
  /** What it does, for the model. */
  description: string;
  input: Input;
  /** What the model is told of the arguments, as JSON Schema, where that is not made from `input`. */
  inputSchema?: Record<string, unknown>;
  domain: ActionDomain;
  risk: Risk;
  tier: Tier;
  idempotency: Idempotency;
  /** Milliseconds after which its signal aborts and the call ends as timed out. */
  timeoutMs: number;
  /** True when it ends the task: it runs after the other calls of its turn, and only if all of those ran. */
  endsTask?: boolean;
  /** True when calls of it may run beside others in one turn. Read-only tools always may. */
  isParallelSafe?: boolean;
  /** The part of the arguments that a grant may generalise over (specification 04); absent: the exact arguments only. */
  grantKey?: (input: z.output<Input>) => string;
  /**
   * Runs the call. Throws only on defects: an expected failure is a result with status `error`.
   * On abort it stops its work, its processes included, and may reject with the signal's reason.
   */
  run: (input: z.output<Input>, context: ToolContext) => Promise<ToolOutcome>;
  /**
   * For a `once` tool of the VM tier: what became of a call whose process died while it ran, from the record of the VM
   * it ran in (`context.claimGuest`); `null`: that is not known.
   */
  settle?: (input: z.output<Input>, context: ToolContext) => Promise<ToolResult | null>;
  /** For a tool that parks: makes the call's result from what happened while the task waited; `null`: still waiting. */
  resume?: (
    waitingFor: WaitingFor,
    since: KnownEvent[],
    context: ToolContext,
  ) => Promise<ToolResult | null> | ToolResult | null;
}

/** Keeps the input's type while a tool is defined. */
export function defineTool<Input extends z.ZodType>(tool: Tool<Input>): Tool {
  return tool;
}

export interface ToolPlugin {
  name: string;
  tools: Tool[];
}

export interface ToolResult {
  status: 'ok' | 'error' | 'timeout';
  /** The whole text for the model. The loop cuts it and keeps the rest as an artifact. */
  text: string;
  /** Structured result for cards; small (a few KB), no file contents. */
  data?: unknown;
  /** Files and long outputs that the tool has already stored. */
  artifacts?: ArtifactRef[];
  /** Where untrusted text in `text` came from: it is framed in the context, and taints the task. */
  untrusted?: string;
}

export type ToolOutcome =
  | ToolResult
  /** The call cannot be answered now: the task parks until `waitingFor` comes true, then `resume` makes the result. */
  | { status: 'park'; waitingFor: WaitingFor }
  /** The task is over: `task_complete`. */
  | {
      status: 'finish';
      text: string;
      success: boolean;
      artifacts?: ArtifactRef[];
      check?: { command: string; exitCode: number };
    };

/** What came of the acceptance check of a task. */
export type Acceptance =
  | { kind: 'passed'; command: string; exitCode: number }
  /** `text`: the command, how it ended and the end of its output. */
  | { kind: 'failed'; exitCode: number | null; text: string }
  | { kind: 'skipped'; reason: string };

export interface ToolContext {
  /** Who and what the call is for. */
  task: TaskIdentity;
  callId: string;
  /** Aborts on cancel, time-out, lost lease and shutdown. */
  signal: AbortSignal;
  /** Shown live, not kept in the context. Coalesced by the loop; never throws. */
  reportProgress: (stream: 'stdout' | 'stderr' | 'note', text: string) => void;
  /** Stores text or bytes beside the journal, bound to the task's user. */
  artifacts: ArtifactAccess;
  /**
   * The task's hold on a guest, made at the first call and then kept for the task. Rejects with `GuestError`
   * (`unavailable`) where none may be had: code never runs on the host.
   */
  claimGuest: () => Promise<GuestSession>;
  /**
   * Puts the user's secrets where a value names them (`{{secret:NAME}}` in any of its strings). Called at the last
   * moment: what it gives goes out and is kept nowhere.
   * @throws AppError `secret.unknown`.
   */
  fillSecrets: <T>(value: T) => Promise<T>;
  /** True once the task has read text from outside. */
  isTainted: () => boolean;
  /** Runs the task's acceptance check; `null` when it has none. */
  checkAcceptance: () => Promise<Acceptance | null>;
  /** The task's sub-Vittos. */
  agents: AgentAccess;
  /** What is left of the task's budget. */
  budgetLeft: () => BudgetLeft;
}

/** What a call reaches of the sub-Vittos of its task. */
export interface AgentAccess {
  /** The ids of the round that this very call has deployed, as the journal has it; `null`: it has not. */
  roundOf: () => readonly string[] | null;
  /** Those of the task whose results no call has given yet. */
  unread: () => ReadonlySet<string>;
  /** The user has written something that the model has not read. */
  hasUnread: () => boolean;
  /** Deploys a round, once a call; a refusal says what is wrong with it. @throws AppError, LostLease */
  deploy: (input: DeployAgents) => Promise<{ refusal: string } | { ids: string[] }>;
  /** All of the task, in the order they were deployed, as they are now. */
  list: () => Promise<SubVittoRecord[]>;
  /** @throws AppError `task.not-found`, `task.ended`. */
  steer: (id: string, message: string) => Promise<unknown>;
  /** Ends it and all below it; one that has ended stays as it is. @throws AppError `task.not-found`. */
  stop: (id: string, reason: string | undefined) => Promise<unknown>;
}

export interface TaskIdentity {
  id: string;
  userId: string;
  conversationId: string | null;
  parentId: string | null;
  rootId: string;
  depth: number;
  /** Host folders the user allows this task to read. */
  allowedPaths: string[];
}

export interface BudgetLeft {
  iterations: number;
  tokens: number | null;
  costUsd: number | null;
  durationMs: number | null;
}

export interface ArtifactAccess {
  save: (name: string, mediaType: string, content: string | Uint8Array) => Promise<ArtifactRef>;
  /** A writer for output of unknown length; memory stays bounded. `abort` leaves nothing behind. */
  open: (name: string, mediaType: string) => Promise<ArtifactWriter>;
  /** `null` when there is none of that id for this user. */
  read: (
    id: string,
    offset: number,
    length: number,
  ) => Promise<{ ref: ArtifactRef; bytes: Uint8Array } | null>;
}

export interface ArtifactWriter {
  write: (bytes: Uint8Array) => Promise<void>;
  /** The whole is kept up to the installation's limit; `truncated` says that more came. */
  finish: () => Promise<ArtifactRef & { truncated: boolean }>;
  abort: () => Promise<void>;
}
