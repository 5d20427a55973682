import { z } from 'zod';
import { artifactRef, eventEnvelope, failure, waitingFor } from './events.ts';
import { budget, spending } from './budget.ts';
import { pageQuery } from './paging.ts';
import { degradePolicy, networkPolicy, templateName } from './sandbox.ts';
import {
  actionDomain,
  complexity,
  estimatedDuration,
  modelRole,
  risk,
  taskKind,
  taskState,
  tier,
} from './words.ts';

/** Shapes of the REST API under /api. The OpenAPI document is generated from these. */

const id = z.uuid();
const time = z.iso.datetime({ offset: true });

/** Largest text of one message, in UTF-16 units. */
export const MESSAGE_MAX_LENGTH = 200_000;

/** RFC 9457 problem details. `code` is stable; `errors` names each bad field. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string().optional(),
  code: z.string(),
  hint: z.string().optional(),
  instance: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  /** Facts for programs that act on the code. */
  details: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});
export type Problem = z.infer<typeof problem>;

export const conversation = z.object({
  id,
  title: z.string(),
  createdAt: time,
  updatedAt: time,
  /** The task of this conversation that has not ended, if there is one. */
  activeTaskId: id.nullable(),
  allowedPaths: z.array(z.string()),
});
export type Conversation = z.infer<typeof conversation>;

/** Absolute folders on the host that tools may read (never write) while they work on this conversation. */
const allowedPaths = z
  .array(
    z
      .string()
      .min(1)
      .max(4096)
      // eslint-disable-next-line no-control-regex -- no path holds one of these
      .regex(/^[^\u0000]*$/u, 'a path holds no NUL'),
  )
  .max(20);
/** A list of models as in VITTO_MODEL. */
const modelList = z
  .string()
  .max(1000)
  // eslint-disable-next-line no-control-regex -- nor does the name of a model
  .regex(/^[^\u0000-\u001f\u007f]*$/u, 'a model list holds no control characters');

export const createConversation = z.strictObject({
  title: z.string().max(200).optional(),
  allowedPaths: allowedPaths.optional(),
});
export const updateConversation = z.strictObject({
  title: z.string().min(1).max(200).optional(),
  allowedPaths: allowedPaths.optional(),
});

export const task = z.object({
  id,
  conversationId: id.nullable(),
  parentId: id.nullable(),
  rootId: id,
  depth: z.number().int(),
  /** Of a sub-Vitto: the round of its parent, its index in it, and those of the round whose results it waits for. */
  round: z.number().int().nullable(),
  index: z.number().int().nullable(),
  dependsOn: z.array(id),
  kind: taskKind,
  role: z.string().nullable(),
  state: taskState,
  title: z.string(),
  tier: tier.nullable(),
  complexity,
  estimatedDuration,
  budget,
  /** Its own and that of its sub-Vittos; iterations and time are its own. */
  spending,
  /** The part of it that its sub-Vittos, and theirs, have spent. */
  spentBelow: z.object({ tokens: z.number().int(), costUsd: z.number().nullable() }),
  waitingFor: waitingFor.nullable(),
  tainted: z.boolean(),
  result: z.string().nullable(),
  /** Of a completed task: what it said of itself. */
  success: z.boolean().nullable(),
  error: failure.nullable(),
  lastSeq: z.number().int(),
  createdAt: time,
  startedAt: time.nullable(),
  endedAt: time.nullable(),
});
export type Task = z.infer<typeof task>;

/** A part of a budget that overrides the default; it never exceeds the installation's limits. */
export const budgetOverride = z.strictObject(budget.partial().shape);

export const sendMessage = z.strictObject({
  text: z.string().min(1).max(MESSAGE_MAX_LENGTH),
  /** Models to use for the task this message starts, as in VITTO_MODEL. */
  model: modelList.optional(),
  budget: budgetOverride.optional(),
  /** The image that its VM must be made from; otherwise the one for code tasks, or a smaller one while that is not there. */
  template: templateName.optional(),
  /** The `ask_user` call this message answers; without it a waiting question takes any message as its answer. */
  answers: z.string().max(200).optional(),
  /** Files that were uploaded before, at most 20. */
  attachments: z.array(id).max(20).optional(),
  /**
   * Edit and retry: the earlier message of this conversation that this one stands in for. From there on the
   * conversation goes on without what followed it; nothing is deleted from the journal.
   */
  replaces: id.optional(),
});

/** `started`: the message began a task; `steered`: a running task reads it at its next step; `answered`: it answers a question. */
export const sentMessage = z.object({
  messageId: id,
  taskId: id,
  outcome: z.enum(['started', 'steered', 'answered']),
});
export type SentMessage = z.infer<typeof sentMessage>;

/** A message of a conversation as people read it; the full story is in the events. */
export const message = z.object({
  id: z.string(),
  taskId: id,
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  position: z.number().int(),
  at: time,
});
export type Message = z.infer<typeof message>;

export const createTask = z.strictObject({
  prompt: z.string().min(1).max(MESSAGE_MAX_LENGTH),
  title: z.string().max(200).optional(),
  allowedPaths: allowedPaths.optional(),
  model: modelList.optional(),
  budget: budgetOverride.optional(),
  /** The image that its VM must be made from; otherwise the one for code tasks, or a smaller one while that is not there. */
  template: templateName.optional(),
});

export const taskQuery = pageQuery.extend({
  state: z.union([taskState, z.literal('active')]).optional(),
  conversationId: id.optional(),
  /** The task of this id and all below it. */
  rootId: id.optional(),
});

export const eventQuery = z.object({
  /** Only events after this position. */
  after: z.coerce.number().int().nonnegative().default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(500),
});
/** `lastPosition`: up to where this page has read; go on with it as `after`, or as `Last-Event-ID` of the stream. */
export const eventPage = z.object({ items: z.array(eventEnvelope), lastPosition: z.number().int() });
export type EventPage = z.infer<typeof eventPage>;

export const conversationEventQuery = z.object({
  /** Only events before this position: the `nextBefore` of the page after it. */
  before: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(200),
});
/**
 * A page of a conversation's events, oldest first, newest page first. Without the deltas of finished turns; the
 * newest page ends with the deltas of what is being written right now.
 */
export const conversationEventPage = z.object({
  items: z.array(eventEnvelope),
  /** The stream goes on from here (`Last-Event-ID`), without a gap and without a repeat. */
  lastPosition: z.number().int(),
  /** `before` of the next older page; `null` at the beginning of the conversation. */
  nextBefore: z.number().int().nullable(),
});
export type ConversationEventPage = z.infer<typeof conversationEventPage>;

/** Largest file that can be attached, in bytes. */
export const ATTACHMENT_MAX_BYTES = 20 * 1024 * 1024;

/** An upload is the file itself as the body; its name and media type stand in the query. */
export const attachmentQuery = z.object({
  name: z.string().trim().min(1).max(200),
  mediaType: z
    .string()
    .regex(/^[\w.+-]+\/[\w.+-]+$/, 'a media type such as text/plain')
    .max(100),
});

/** Steps of a task for its timeline: its events without the deltas, a page at a time. */
export const taskStepQuery = z.object({
  /** Only events after (`asc`) or before (`desc`) this number of the task's journal. */
  cursor: z.coerce.number().int().nonnegative().optional(),
  order: z.enum(['asc', 'desc']).default('asc'),
  limit: z.coerce.number().int().min(1).max(500).default(200),
});
export const taskStepPage = z.object({
  items: z.array(eventEnvelope),
  nextCursor: z.number().int().nullable(),
  /** Up to where the task's journal goes now. */
  lastSeq: z.number().int(),
  /** Follow the event stream from here, without a gap and without a repeat. */
  lastPosition: z.number().int(),
});
export type TaskStepPage = z.infer<typeof taskStepPage>;

export const approvalState = z.enum(['pending', 'approved', 'refused', 'expired', 'void']);
export const approval = z.object({
  id,
  taskId: id,
  callId: z.string(),
  tool: z.string(),
  /** What will run, whole. */
  arguments: z.json(),
  argumentsHash: z.string(),
  reason: z.string(),
  risk,
  domain: actionDomain,
  state: approvalState,
  note: z.string().nullable(),
  createdAt: time,
  expiresAt: time,
  decidedAt: time.nullable(),
});
export type Approval = z.infer<typeof approval>;

export const approvalQuery = pageQuery.extend({ state: approvalState.optional() });

export const decideApproval = z.strictObject({
  decision: z.enum(['approved', 'refused']),
  note: z.string().max(2000).optional(),
  /** When given, it must equal the approval's own hash: what was seen is what is decided. */
  argumentsHash: z.string().optional(),
});

export const artifact = artifactRef.extend({ taskId: id.nullable(), createdAt: time });
export type Artifact = z.infer<typeof artifact>;

export const settings = z.object({
  /** `null`: none was chosen; pages take the browser's, everything else is in English. */
  language: z.enum(['en', 'es']).nullable().default(null),
  timeZone: z.string().default('UTC'),
  allowedPaths: allowedPaths.default([]),
  /** Model lists a role, as in VITTO_MODEL; a role that is absent uses the installation's. */
  models: z.partialRecord(modelRole, modelList).default({}),
  budget: budget.partial().default({}),
  dailyCostUsd: z.number().positive().nullable().default(null),
  /** `null`: as the installation says. */
  vmDegrade: degradePolicy.nullable().default(null),
  network: networkPolicy.default({ packageRegistries: true, hosts: [] }),
});
export type Settings = z.infer<typeof settings>;
export const updateSettings = z.strictObject({
  language: z.enum(['en', 'es']).optional(),
  timeZone: z.string().max(100).optional(),
  allowedPaths: allowedPaths.optional(),
  models: z.partialRecord(modelRole, modelList).optional(),
  budget: budgetOverride.optional(),
  dailyCostUsd: z.number().positive().nullable().optional(),
  vmDegrade: degradePolicy.nullable().optional(),
  network: networkPolicy.optional(),
});

/** What this installation allows everybody; `null` means no limit. Settings never exceed it. */
export const settingsLimits = z.object({ budget, dailyCostUsd: z.number().positive().nullable() });
export type SettingsLimits = z.infer<typeof settingsLimits>;

export const me = z.object({
  id,
  name: z.string(),
  role: z.enum(['owner', 'admin', 'member', 'viewer']),
  /** Send it back as `x-csrf-token` with each request that changes something. `null` for token sign-in. */
  csrfToken: z.string().nullable(),
  /** Up to where the journal goes: a stream that begins here misses nothing of what is loaded after this answer. */
  lastPosition: z.number().int().nonnegative(),
});
export type Me = z.infer<typeof me>;

export const signIn = z.strictObject({ code: z.string().min(1).max(200) });

/** A one-time way to sign in on another browser: `code` goes into the fragment of the sign-in page. */
export const signInCode = z.object({ code: z.string(), expiresAt: time });

/**
 * What a personal token may do. `read`: look. `run`: start, steer and cancel tasks. `approve`: decide approvals.
 * `manage`: settings, secrets, servers, webhooks, tokens.
 */
export const TOKEN_SCOPES = ['read', 'run', 'approve', 'manage'] as const;
export const tokenScope = z.enum(TOKEN_SCOPES);
export type TokenScope = z.infer<typeof tokenScope>;

export const apiToken = z.object({
  id,
  name: z.string(),
  scopes: z.array(tokenScope),
  createdAt: time,
  lastUsedAt: time.nullable(),
  expiresAt: time.nullable(),
});
export const createApiToken = z.strictObject({
  name: z.string().min(1).max(100),
  /** All of them when absent. */
  scopes: z.array(tokenScope).min(1).optional(),
  expiresInDays: z.number().int().positive().max(3650).optional(),
});
/** The token itself is shown once. */
export const createdApiToken = apiToken.extend({ token: z.string() });

export const componentStatus = z.object({
  name: z.string(),
  state: z.enum(['ok', 'degraded', 'missing', 'down']),
  detail: z.string(),
  /** What to do about it. */
  hint: z.string().optional(),
});
export type ComponentStatus = z.infer<typeof componentStatus>;

export const modelStatus = z.object({
  role: modelRole,
  models: z.array(z.string()),
  /** True for a scripted model or a replayed recording: people see a label. */
  scripted: z.boolean(),
});
export type ModelStatus = z.infer<typeof modelStatus>;

/** A process of this installation; one that has not been heard of for a while is not alive. */
export const processStatus = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.number().int(),
  roles: z.array(z.string()),
  version: z.string(),
  startedAt: time,
  heartbeatAt: time,
  isAlive: z.boolean(),
  /** Tasks that it runs now. */
  runningTasks: z.number().int(),
});
export type ProcessStatus = z.infer<typeof processStatus>;

export const systemStatus = z.object({
  version: z.string(),
  startedAt: time,
  roles: z.array(z.string()),
  components: z.array(componentStatus),
  models: z.array(modelStatus),
  tasks: z.record(z.string(), z.number().int()),
  processes: z.array(processStatus),
  queue: z.object({
    /** Tasks of everybody that wait for a worker, and how long the first of them has. */
    queued: z.number().int(),
    oldestQueuedMs: z.number().int().nullable(),
    running: z.number().int(),
    waiting: z.number().int(),
  }),
  /** When this was read, by the database's clock: ages of times in it are told against this. */
  readAt: time,
  database: z.object({
    version: z.string(),
    /** `embedded`: supervised by Vitto; `external`: named by DATABASE_URL. */
    kind: z.enum(['embedded', 'external']),
    bytes: z.number().int(),
    connections: z.number().int(),
    maxConnections: z.number().int(),
    roundTripMs: z.number(),
  }),
});
export type SystemStatus = z.infer<typeof systemStatus>;
