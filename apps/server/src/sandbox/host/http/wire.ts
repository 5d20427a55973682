import { createSandbox, networkPolicy, sandboxCaller, templateName } from '@vitto/contracts';
import { z } from 'zod';

/** What servers and sandbox hosts send each other: the bodies of `/infrastructure/sandbox/*`. Both ends read this file. */

export const API_ROOT = '/infrastructure/sandbox';
/** What an upgraded connection speaks from then on: the bytes of SSH. */
export const SSH_PROTOCOL = 'vitto-ssh';
/** Between two comments of a stream: several that are missing mean that the other end is dead. */
export const KEEP_ALIVE_MS = 10_000;
/** How long a client waits for the next bytes of a stream, in milliseconds. */
export const SILENCE_MS = 3 * KEEP_ALIVE_MS;

const id = z.uuid();
const path = z.string().min(1).max(8_192);
const env = z.record(z.string().min(1).max(256), z.string().max(131_072));
const timeoutMs = z.number().int().min(1).max(86_400_000);
const command = z.string().min(1).max(1_048_576);
const encoding = z.enum(['utf8', 'base64']);
/** Every call into a guest says for which task it is made. */
const call = { caller: sandboxCaller };

export const wire = {
  create: createSandbox.extend({ network: networkPolicy.prefault({}) }),
  restore: createSandbox
    .pick({ sessionId: true, fence: true })
    .extend({ network: networkPolicy.prefault({}) }),
  release: z.strictObject({
    taskId: id,
    fence: sandboxCaller.shape.fence.nullable(),
    isBroken: z.boolean().default(false),
  }),
  ofUser: z.strictObject({ userId: id }),
  network: networkPolicy.strict(),
  grant: z.strictObject({
    keyContent: z.string().min(1).max(65_536),
    repoUrl: z.string().min(1).max(2_048),
    hostKeys: z.array(z.string().min(1).max(8_192)).max(32),
    mayBePrivate: z.boolean().default(false),
  }),
  revocation: z.strictObject({ repoUrl: z.string().min(1).max(2_048) }),
  push: z.strictObject({ repoUrl: z.string().min(1).max(2_048), forMs: timeoutMs }),
  ssh: z.strictObject({ userId: id, publicKey: z.string().min(1).max(8_192) }),
  exec: z.strictObject({
    ...call,
    command,
    cwd: path.optional(),
    timeoutMs,
    env: env.optional(),
    stdin: z.string().optional(),
    callId: z.string().min(1).max(200).optional(),
    /** Of a stream: whether it carries every byte of output before the result. */
    withOutput: z.boolean().default(true),
  }),
  record: z.strictObject({ ...call }),
  writeFile: z.strictObject({
    ...call,
    path,
    content: z.string(),
    encoding,
    mode: z.number().int().min(0).max(0o7777).optional(),
    expectSha256: z.string().max(64).optional(),
  }),
  readFile: z.strictObject({
    ...call,
    path,
    offset: z.number().int().nonnegative().optional(),
    length: z.number().int().nonnegative().optional(),
    encoding,
  }),
  listFiles: z.strictObject({
    ...call,
    path,
    depth: z.number().int().positive().optional(),
    limit: z.number().int().positive().optional(),
    cursor: z.string().max(16_384).optional(),
  }),
  search: z.strictObject({
    ...call,
    pattern: z.string().max(65_536),
    path,
    flags: z.strictObject({
      fixed: z.boolean().optional(),
      ignoreCase: z.boolean().optional(),
      include: z.string().max(4_096).optional(),
      maxMatches: z.number().int().positive().optional(),
    }),
    timeoutMs,
  }),
  startProcess: z.strictObject({ ...call, command, cwd: path.optional(), env: env.optional() }),
  readProcess: z.strictObject({ ...call, offset: z.number().int().nonnegative().optional() }),
  stopProcess: z.strictObject({ ...call }),
} as const;

export const params = {
  sandbox: z.object({ id }),
  user: z.object({ userId: id }),
  process: z.object({ id, processId: z.string().min(1).max(200) }),
  command: z.object({ id, callId: z.string().min(1).max(200) }),
  permit: z.object({ id, permitId: id }),
  image: z.object({ name: templateName }),
} as const;
