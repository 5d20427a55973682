import { z } from 'zod';
import { budget, spending, usage } from './budget.ts';
import { sandboxOrigin, templateName } from './sandbox.ts';
import { withheldTool } from './sub-vitto.ts';
import {
  actionDomain,
  autonomyLevel,
  complexity,
  estimatedDuration,
  idempotency,
  risk,
  taskKind,
  taskState,
  tier,
  verdict,
  waitingState,
} from './words.ts';

/**
 * The event catalogue: one payload schema a type (specification 01, "Journal").
 * Payloads are loose: fields that this version does not know are kept. Types that it does not know are shown raw.
 */

const id = z.uuid();
const loose = z.looseObject;
const json = z.json();

/** A file or long text kept whole beside the journal. `bytes` is the stored size. */
export const artifactRef = z.object({
  id,
  name: z.string(),
  mediaType: z.string(),
  bytes: z.number().int().nonnegative(),
});
export type ArtifactRef = z.infer<typeof artifactRef>;

/** Where a call really ran, for the card: a VM, the process sandbox, or in the worker itself. */
export const ranOn = loose({
  kind: z.enum(['in-process', 'process-sandbox', 'vm', 'browser']),
  host: z.string().optional(),
  sandboxId: z.string().optional(),
  /** How its VM came. */
  from: sandboxOrigin.optional(),
});

export const toolStatus = z.enum(['ok', 'error', 'invalid', 'refused', 'cancelled', 'timeout', 'unknown']);
export type ToolStatus = z.infer<typeof toolStatus>;

/** What a task failed of: a stable code, what happened, and what to do next. */
export const failure = loose({ code: z.string(), message: z.string(), hint: z.string().optional() });
export type Failure = z.infer<typeof failure>;

/** What a parked task waits for. */
export const waitingFor = z.discriminatedUnion('kind', [
  loose({ kind: z.literal('approval'), approvalIds: z.array(id) }),
  loose({
    kind: z.literal('input'),
    callId: z.string(),
    question: z.string(),
    choices: z.array(z.string()).optional(),
  }),
  loose({ kind: z.literal('children'), callId: z.string(), childIds: z.array(id) }),
]);
export type WaitingFor = z.infer<typeof waitingFor>;

const turn = z.number().int().positive();
const attempt = z.number().int().positive();
const subvitto = { id };
const trigger = { userId: id.optional(), triggerId: id };
const vm = { vmId: z.string().optional(), reason: z.string().optional() };

export const eventPayloads = {
  'user.message': loose({
    messageId: id,
    text: z.string(),
    source: z.string(),
    /** Host folders the user allows this conversation to read. */
    allowedPaths: z.array(z.string()).optional(),
    /** Who started the task lets its commands run in the process sandbox where no VM can be had; never asked then. */
    mayDegrade: z.boolean().optional(),
    /** The image that the task's VM must be made from. */
    template: templateName.optional(),
    /** The `ask_user` call this message answers. */
    answers: z.string().optional(),
    /** Origin of text from outside in it: results of other sub-Vittos that have read some. */
    untrusted: z.string().optional(),
    /** Whoever wrote it (a task, to its sub-Vitto) has read text from outside: some of that may be in it. */
    tainted: z.boolean().optional(),
    /** Files that came with it. */
    attachments: z.array(artifactRef).optional(),
    /** The message of this conversation that this one stands in for: what came from it on does not count any more. */
    replaces: id.optional(),
    /** Journal position of that message: up to this event, nothing from there on counts. */
    replacesPosition: z.number().int().optional(),
  }),

  'task.created': loose({
    kind: taskKind,
    depth: z.number().int().min(0).max(2),
    parentTaskId: id.nullable(),
    /** Of a sub-Vitto: the task that began it all, and its place among those of its parent. */
    rootTaskId: id.optional(),
    round: z.number().int().optional(),
    index: z.number().int().optional(),
    dependsOn: z.array(id).optional(),
    conversationId: id.nullable(),
    role: z.string().nullable(),
    title: z.string(),
    tier: tier.nullable(),
    complexity,
    estimatedDuration,
    budget,
  }),
  'task.queued': loose({ reason: z.string() }),
  'task.started': loose({ worker: z.string(), fence: z.number().int() }),
  'task.parked': loose({ state: waitingState, waitingFor }),
  'task.resumed': loose({
    worker: z.string(),
    fence: z.number().int(),
    reason: z.string(),
    /** A turn that was streaming when its worker died; its text does not count. */
    discardedTurn: turn.nullable().optional(),
  }),
  'task.completed': loose({
    result: z.string(),
    success: z.boolean(),
    artifacts: z.array(artifactRef).optional(),
    spending,
    /** Its acceptance check was run and passed. */
    check: loose({ command: z.string(), exitCode: z.number().int() }).optional(),
    /** Of a sub-Vitto: its end is its parent's to read, nobody is called for it. */
    parentTaskId: id.optional(),
  }),
  'task.failed': loose({
    error: failure,
    spending: spending.optional(),
    parentTaskId: id.optional(),
  }),
  'task.cancelled': loose({ by: z.string(), reason: z.string().optional(), spending: spending.optional() }),
  'task.stuck': loose({
    pattern: z.enum(['repeat', 'alternation', 'no-progress']),
    action: z.enum(['nudged', 'failed']),
    note: z.string(),
    tried: z.array(z.string()),
  }),

  'gate.evaluated': loose({
    decision: z.enum(['act', 'suggest', 'wait']),
    reason: z.string(),
    tier,
    levels: z.partialRecord(actionDomain, autonomyLevel).optional(),
    cachedUntil: z.iso.datetime({ offset: true }).optional(),
  }),
  'phase.started': loose({
    phase: z.string(),
    /** Of an acceptance check: the command that is run. */
    command: z.string().optional(),
  }),
  'phase.completed': loose({
    phase: z.string(),
    durationMs: z.number().optional(),
    /** Of an acceptance check: how its command ended. */
    exitCode: z.number().int().nullable().optional(),
    /** Of a compaction: what stands for the older part of the conversation from here on. */
    summary: z.string().optional(),
    /** Of a compaction: the journal position up to which the summary stands in. */
    throughPosition: z.number().int().optional(),
    /** Of a compaction: the summary stands for text from outside too. */
    tainted: z.boolean().optional(),
  }),

  'agent.iteration': loose({
    iteration: z.number().int().positive(),
    turn,
    /** Journal seq up to which the task's input has been read into the context. */
    inputSeq: z.number().int().nonnegative(),
    /** Notes by the engine that go into the context with this iteration (budget, stuck, closing). */
    notes: z.array(z.string()).optional(),
    closing: z.boolean().optional(),
    reserved: loose({
      inputTokens: z.number().int(),
      outputTokens: z.number().int(),
      costUsd: z.number().nullable(),
    }).optional(),
  }),
  'agent.text': loose({ turn, attempt, delta: z.string() }),
  'agent.reasoning': loose({ turn, attempt, delta: z.string() }),
  'agent.turn_completed': loose({
    turn,
    attempt,
    model: z.string(),
    /** The whole assistant message as the provider gave it, reasoning signatures included. */
    message: loose({ role: z.literal('assistant'), content: z.array(loose({ type: z.string() })) }),
    finishReason: z.string(),
    usage,
    costUsd: z.number().nullable(),
    durationMs: z.number(),
  }),

  'tool.starting': loose({
    callId: z.string(),
    turn,
    tool: z.string(),
    arguments: json,
    idempotency,
    risk,
    domain: actionDomain,
    tier,
    decision: loose({ verdict, reason: z.string(), approvalId: id.optional() }),
  }),
  'tool.progress': loose({
    callId: z.string(),
    stream: z.enum(['stdout', 'stderr', 'note']),
    text: z.string(),
  }),
  'tool.called': loose({
    callId: z.string(),
    turn,
    tool: z.string(),
    status: toolStatus,
    /** The text that the model gets: whole when short, head and tail with the count of what is missing when long. */
    text: z.string(),
    /** Structured result for people's cards. */
    data: json.optional(),
    /** The whole result when `text` is only a part of it, and files the tool made. */
    artifacts: z.array(artifactRef).optional(),
    /** Origin of untrusted text in the result (a URL, a server), when there is any. */
    untrusted: z.string().optional(),
    durationMs: z.number(),
    tier,
    ranOn: ranOn.optional(),
  }),

  'approval.requested': loose({
    approvalId: id,
    callId: z.string(),
    tool: z.string(),
    arguments: json,
    argumentsHash: z.string(),
    reason: z.string(),
    risk,
    domain: actionDomain,
    expiresAt: z.iso.datetime({ offset: true }),
  }),
  'approval.decided': loose({
    approvalId: id,
    callId: z.string(),
    decision: z.enum(['approved', 'refused', 'expired', 'void']),
    by: z.string(),
    note: z.string().optional(),
  }),
  'budget.exceeded': loose({
    budget: z.enum(['iterations', 'tokens', 'cost', 'duration']),
    limit: z.number(),
    spent: z.number(),
    /** The task whose limit it is: this one or an ancestor. */
    ofTaskId: id,
  }),

  'model.retry': loose({
    turn,
    /** The attempt that failed; its text does not count. */
    attempt,
    model: z.string(),
    reason: z.string(),
    status: z.number().optional(),
    delayMs: z.number(),
    message: z.string(),
  }),
  'model.fallback': loose({ turn, from: z.string(), to: z.string(), reason: z.string() }),

  'checkpoint.saved': loose({ iteration: z.number().int() }),

  'subvitto.spawned': loose({
    ...subvitto,
    parentTaskId: id,
    role: z.string().nullable(),
    tier,
    depth: z.number().int(),
    description: z.string(),
    /** Its place: the round of its parent's `deploy_agents`, and the index in that call's list. */
    round: z.number().int().positive().optional(),
    index: z.number().int().nonnegative().optional(),
    title: z.string().optional(),
    /** Those of its round whose results it waits for. */
    dependsOn: z.array(id).optional(),
    tools: z.array(z.string()).optional(),
    /** What it was not given, and why. */
    withheld: z.array(withheldTool).optional(),
    /** The command whose exit code 0 accepts its work. */
    check: z.string().optional(),
    budget: budget.optional(),
  }),
  'subvitto.vm_acquired': loose({
    ...subvitto,
    vmId: z.string(),
    restored: z.boolean(),
    acquireTimeMs: z.number(),
    from: sandboxOrigin.optional(),
  }),
  'subvitto.vm_degraded': loose({ ...subvitto, reason: z.string(), fallbackTier: z.string() }),
  /** Where it stands, when that changes: at most a few times a second, so that not each of its steps is here. */
  'subvitto.progress': loose({
    ...subvitto,
    iteration: z.number().int(),
    currentTool: z.string().nullable(),
    /** What the tool is at: the command, the file, the address. */
    detail: z.string().nullable().optional(),
    /** `running`, or what it waits for. */
    state: taskState.optional(),
    /** When it began to work. */
    startedAt: z.iso.datetime({ offset: true }).optional(),
  }),
  'subvitto.completed': loose({
    ...subvitto,
    success: z.boolean(),
    /** Milliseconds from its start to its end: what it waited is part of it. */
    duration: z.number(),
    toolsUsed: z.array(z.string()),
    cost: z.number().nullable(),
    /** Its report; cut when long, the whole of it is its task's result. */
    result: z.string(),
    iterations: z.number().int().optional(),
    tokens: z.number().int().optional(),
  }),
  'subvitto.failed': loose({
    ...subvitto,
    error: z.string(),
    iteration: z.number().int(),
    /** How it ended without a result. */
    status: z.enum(['failed', 'cancelled', 'timeout']).optional(),
    code: z.string().optional(),
    /** As of one that has completed. */
    duration: z.number().optional(),
    toolsUsed: z.array(z.string()).optional(),
    cost: z.number().nullable().optional(),
    tokens: z.number().int().optional(),
  }),

  /** No VM is free yet: the place in the line of the host. Written when the place changes. */
  'vm.waiting': loose({ place: z.number().int().positive(), reason: z.string() }),
  'vm.acquired': loose({
    ...vm,
    restored: z.boolean().optional(),
    acquireTimeMs: z.number().optional(),
    from: sandboxOrigin.optional(),
    host: z.string().optional(),
    template: z.string().optional(),
    notices: z.array(z.string()).optional(),
  }),
  'vm.released': loose(vm),
  'vm.degraded': loose({ reason: z.string(), fallbackTier: z.string() }),
  'vm.lost': loose(vm),

  'orchestrator.round': loose({
    roundNumber: z.number().int().positive(),
    subTaskIds: z.array(id),
    synthesis: z.string().nullable().optional(),
    /** The call of `deploy_agents` that began it. */
    callId: z.string().optional(),
    /** Rounds that a task may have. */
    maxRounds: z.number().int().optional(),
  }),
  'trust.updated': loose({
    userId: id.optional(),
    domain: actionDomain,
    oldScore: z.number(),
    newScore: z.number(),
    level: autonomyLevel,
    trajectory: z.enum(['rising', 'stable', 'declining']),
    reason: z.string(),
  }),
  'trigger.detected': loose({ ...trigger, pattern: z.string(), confidence: z.number() }),
  'trigger.suggested': loose({ ...trigger, message: z.string().optional() }),
  'trigger.executed': loose({ ...trigger, taskId: id, result: z.string().optional() }),
  'trigger.disabled': loose({ ...trigger, reason: z.string().optional() }),
  'cut.taken': loose({ cutId: id }),
  'cut.restored': loose({ cutId: id }),
  'evolution.drift': loose({
    trait: z.string(),
    oldValue: z.number(),
    newValue: z.number(),
    reason: z.string(),
  }),
  'evolution.visual': loose({
    stage: z.string(),
    previousStage: z.string().nullable(),
    trigger: z.string(),
  }),
} as const;

export type EventType = keyof typeof eventPayloads;
export type EventPayload<T extends EventType> = z.infer<(typeof eventPayloads)[T]>;

/** An event as a writer hands it in; seq, position and time are given by the database. */
export type NewEvent = { [T in EventType]: { type: T; payload: EventPayload<T> } }[EventType];

export const EVENT_TYPES = Object.keys(eventPayloads) as EventType[];
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventPayloads, type);
}

/** An event as it is stored and streamed. `position` is the id of the stream: gapless per user. */
export const eventEnvelope = z.object({
  position: z.number().int().positive(),
  taskId: id,
  /** Gapless per task, from 1. */
  seq: z.number().int().positive(),
  type: z.string(),
  at: z.iso.datetime({ offset: true }),
  payload: z.looseObject({}),
});
export type EventEnvelope = z.infer<typeof eventEnvelope>;

/** An envelope whose type this version knows, with its payload typed. */
export type KnownEvent = {
  [T in EventType]: Omit<EventEnvelope, 'type' | 'payload'> & { type: T; payload: EventPayload<T> };
}[EventType];

/** Narrows an envelope to a known type; unknown types and payloads that do not fit give `null` and are shown raw. */
export function readKnownEvent(event: EventEnvelope): KnownEvent | null {
  if (!isEventType(event.type)) return null;
  const parsed = eventPayloads[event.type].safeParse(event.payload);
  return parsed.success ? ({ ...event, payload: parsed.data } as KnownEvent) : null;
}
