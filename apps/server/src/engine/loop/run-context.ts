import type { AutonomyContext, Failure, WaitingFor, WaitingState } from '@vitto/contracts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { TaskRecord } from '../journal/task.store.ts';
import type { ModelLimiter } from '../models/limiter.ts';
import type { Model } from '../models/model.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { AgentAccess, ArtifactAccess, Tool } from '../tools/tool.ts';
import type { AttachmentReader } from './attachments/show-attachments.ts';
import type { ClaimGuest, GuestHold } from './guest-claim.ts';
import type { DecideCall, EvaluateGate } from './hooks.ts';
import type { RunState } from './run-state.ts';
import type { TaskJournal } from './task-journal.ts';
import type { Transcript } from './transcript.ts';

/** Deploys sub-Vittos and minds them, for the tools that do. */
export interface Orchestrator {
  openAccess: (run: Run, callId: string) => AgentAccess;
}

/** Everything a run of the loop reaches, handed in. */
export interface LoopDependencies {
  registry: ToolRegistry;
  /** Names of the tools that this task is offered. */
  toolNames: readonly string[];
  evaluateGate: EvaluateGate;
  decide: DecideCall;
  /** In the order they are tried. */
  models: readonly Model[];
  limiter: ModelLimiter;
  systemPrompt: string;
  /** Why a tool that there is was not given to this task; `null` for one that was. */
  whyNot: (tool: Tool) => string | null;
  orchestrator: Orchestrator;
  /** The models that sub-Vittos of this task will use. */
  resolveSubVittoModels: () => Promise<readonly Model[]>;
  /** Ends the sub-Vittos that still work when their parent cannot go on. */
  stopSubVittos: (ids: readonly string[]) => Promise<void>;
  artifacts: ArtifactAccess;
  claimGuest: ClaimGuest;
  /** Lets the task's claim on its VM go, journaled before; the process sandbox keeps what it has. Never throws. */
  restGuest: () => Promise<void>;
  /** Puts the user's secrets where a value names them; rejects with `secret.unknown`. */
  fillSecrets: <T>(value: T) => Promise<T>;
  clock: Clock;
  logger: Logger;
  timeZone: string;
  dailyLimitNano: number | null;
}

/** One run of a task by one worker: from taking it to parking, ending or losing it. */
export interface Run {
  task: TaskRecord;
  state: RunState;
  transcript: Transcript;
  journal: TaskJournal;
  deps: LoopDependencies;
  /** Aborts when the task is cancelled, the lease is lost, or the worker must stop at once. */
  signal: AbortSignal;
  /** True when the worker stops: the loop gives the task back at its next step boundary. */
  isDraining: () => boolean;
  gate: AutonomyContext | null;
  /** What is held for the closing turn; `null` before the first reservation. */
  headroom: { tokens: number; costNano: number } | null;
  spent: { tokens: number; costNano: number };
  /** False once anything of the task ran on a model without a price. */
  isCostKnown: boolean;
  /** Folds transcript and state anew from the journal. */
  reload: () => Promise<void>;
  /** Milliseconds on the monotonic clock at which the running time began. */
  startedAt: number;
  guest: Promise<GuestHold> | null;
  /** Milliseconds on the monotonic clock at which the guest was last called. */
  guestUsedAt: number;
  /** Gives the files of the conversation to the model. */
  attachments: AttachmentReader;
}

/** How a run ended. */
export type RunEnd =
  | { kind: 'completed' }
  | { kind: 'failed'; error: Failure }
  | { kind: 'parked'; state: WaitingState; waitingFor: WaitingFor }
  | { kind: 'given-back' };

/** Running time so far, parked time not counted, in milliseconds. */
export function runningMs(run: Run): number {
  return run.task.ranMs + run.deps.clock.monotonic() - run.startedAt;
}
