import { z } from 'zod';

/** Machines of the sandbox (specification 02): what hosts, the API between server and host, the web and the command line say of them. */

const id = z.uuid();
const time = z.iso.datetime({ offset: true });
const bytes = z.number().int().nonnegative();
const ms = z.number().nonnegative();

/** How a session came, the fastest first. */
export const SANDBOX_ORIGINS = ['session', 'user-snapshot', 'user-disk', 'base-snapshot', 'boot'] as const;
export const sandboxOrigin = z.enum(SANDBOX_ORIGINS);
export type SandboxOrigin = z.infer<typeof sandboxOrigin>;

export const templateName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'a name like "developer"');

/**
 * `starting`: being acquired. `running`: a VM is there. `suspending`: its snapshot is being taken.
 * `suspended`: no VM, its disk and snapshot are kept. `lost`: its VM is gone without a snapshot of its last state; the disk is kept.
 */
export const SANDBOX_STATES = ['starting', 'running', 'suspending', 'suspended', 'lost'] as const;
export const sandboxState = z.enum(SANDBOX_STATES);
export type SandboxState = z.infer<typeof sandboxState>;

/** Who calls: the task and the number of its lease. A host refuses a number older than one it has seen. */
export const sandboxCaller = z.strictObject({ taskId: id, fence: z.number().int().nonnegative() });
export type SandboxCaller = z.infer<typeof sandboxCaller>;

/** `sessionId` names the claim: the task that holds it. The same one twice is one claim. */
export const createSandbox = z.strictObject({
  sessionId: id,
  userId: id,
  template: templateName,
  fence: z.number().int().nonnegative().default(0),
});
export const createdSandbox = z.object({
  sandboxId: id,
  restored: z.boolean(),
  from: sandboxOrigin,
  acquireTimeMs: ms,
  /** What the user should know of how it came (a snapshot that could not be used and why), a sentence each. */
  notices: z.array(z.string()),
});
export type CreatedSandbox = z.infer<typeof createdSandbox>;

export const userSandbox = z.object({
  exists: z.boolean(),
  state: sandboxState.nullable(),
  snapshotAgeDays: z.number().nonnegative().nullable(),
  template: templateName.nullable(),
  /** Disk and snapshots together. */
  bytes,
});
export type UserSandbox = z.infer<typeof userSandbox>;

/** What the start of a VM spent its time on, in milliseconds, in order. */
export const startStages = z.array(z.object({ stage: z.string(), ms }));
export type StartStages = z.infer<typeof startStages>;

/** A user's machine on a host: a running session, or what is kept of one. */
export const sandboxInfo = z.object({
  id,
  userId: id,
  template: templateName,
  hostId: z.string(),
  state: sandboxState,
  from: sandboxOrigin.nullable(),
  acquireTimeMs: ms.nullable(),
  stages: startStages,
  startedAt: time.nullable(),
  lastUsedAt: time,
  /** Of the VM's process on the host; `null` when it does not run. */
  memoryBytes: bytes.nullable(),
  memoryMib: z.number().int(),
  cpus: z.number().int(),
  diskBytes: bytes,
  /** `isTask` false: a person's command or shell, with an id of its own. */
  claims: z.array(z.object({ taskId: id, isTask: z.boolean(), since: time, lastCallAt: time })),
  /** Commands that run now, as they were given (secrets masked), the longest first. */
  commands: z.array(z.object({ taskId: id.nullable(), command: z.string(), since: time })),
  snapshot: z
    .object({ id, createdAt: time, bytes, isUsable: z.boolean(), reason: z.string().nullable() })
    .nullable(),
});
export type SandboxInfo = z.infer<typeof sandboxInfo>;

/** An image of a template on a host, built or being built. */
export const imageInfo = z.object({
  name: templateName,
  /** Of its recipe: what it is made from. */
  hash: z.string(),
  state: z.enum(['missing', 'building', 'ready', 'failed']),
  bytes,
  builtAt: time.nullable(),
  /** Whether the base snapshot of this host is there: starts without it boot. */
  hasBaseSnapshot: z.boolean(),
  progress: z.object({ step: z.string(), fraction: z.number().min(0).max(1) }).nullable(),
  /** Why it failed or cannot be built here, and what to do. */
  problem: z.string().nullable(),
});
export type ImageInfo = z.infer<typeof imageInfo>;

export const sandboxHostInfo = z.object({
  id: z.string(),
  name: z.string(),
  /** `null`: in this process. */
  url: z.string().nullable(),
  isReachable: z.boolean(),
  provider: z.enum(['qemu', 'firecracker', 'e2b', 'none', 'fake']),
  /** `kvm` or `tcg`; `null` where no VM can be had. */
  accelerator: z.enum(['kvm', 'tcg']).nullable(),
  version: z.string().nullable(),
  /** Why no VM can be had here, and what to do about it. */
  reason: z.string().nullable(),
  hint: z.string().nullable(),
  running: z.number().int(),
  waiting: z.number().int(),
  maxConcurrent: z.number().int(),
  /** Of the host's machine; `null` while it is not known. What VMs may take of it is in their own `memoryMib`. */
  memory: z.object({ totalBytes: bytes, freeBytes: bytes }).nullable().default(null),
  images: z.array(imageInfo),
});
export type SandboxHostInfo = z.infer<typeof sandboxHostInfo>;

/** All that `/operations/system` shows of the VM tier. */
export const sandboxOverview = z.object({
  hosts: z.array(sandboxHostInfo),
  sandboxes: z.array(sandboxInfo),
});
export type SandboxOverview = z.infer<typeof sandboxOverview>;

/** Events of a `create` that is read as a stream: the place in the line while it waits, then what came. */
export const sandboxWaiting = z.object({ place: z.number().int().positive(), reason: z.string() });
export type SandboxWaiting = z.infer<typeof sandboxWaiting>;

const capturedOutput = z.object({
  text: z.string(),
  totalBytes: bytes,
  missingBytes: bytes,
  replaced: z.boolean(),
});

/** What settles a command whose caller is gone (the guest's own record). */
export const commandRecord = z.object({
  state: z.enum(['unknown', 'running', 'ended', 'cut-short']),
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  stdoutBytes: bytes,
  stderrBytes: bytes,
  durationMs: ms,
  /** What it printed, head and tail, once it has ended or was cut short; absent where that is not kept. */
  output: z.object({ stdout: capturedOutput, stderr: capturedOutput }).optional(),
});
export type CommandRecord = z.infer<typeof commandRecord>;

/** May a task's commands run in the process sandbox when no VM can be had: without asking, after asking, not at all. */
export const degradePolicy = z.enum(['allow', 'ask', 'never']);
export type DegradePolicy = z.infer<typeof degradePolicy>;

/** A host name, or `*.` and one for every name below it. */
export const hostPattern = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(
    /^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
    'a host name like "api.example.com" or "*.example.com"',
  );
/** What a user's VMs may reach. Everything else is refused. */
export const networkPolicy = z.object({
  /** Debian, npm and PyPI. */
  packageRegistries: z.boolean().default(true),
  hosts: z.array(hostPattern).max(200).default([]),
});
export type NetworkPolicy = z.infer<typeof networkPolicy>;
