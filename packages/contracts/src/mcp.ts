import { z } from 'zod';
import { failure } from './events.ts';
import { actionDomain, risk } from './words.ts';

/** Servers of the Model Context Protocol whose tools Vitto may use. */

const id = z.uuid();
const time = z.iso.datetime({ offset: true });
/** Its tools are named `mcp__NAME__TOOL`. */
export const mcpServerName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?$/, 'small letters, digits and -, at most 24');
const pairs = z.record(z.string().min(1).max(200), z.string().max(8000));

export const mcpTransport = z.discriminatedUnion('kind', [
  /** A program on the worker's machine. Only the owner may name one. Values may name secrets. */
  z.strictObject({
    kind: z.literal('stdio'),
    command: z.string().min(1).max(4096),
    args: z.array(z.string().max(8192)).max(100).default([]),
    env: pairs.default({}),
  }),
  z.strictObject({
    kind: z.literal('http'),
    url: z.url({ protocol: /^https?$/ }).max(2000),
    headers: pairs.default({}),
  }),
]);
export type McpTransport = z.infer<typeof mcpTransport>;

/** What the user says of a tool, over what they say of its server. */
export const mcpToolChoice = z.strictObject({
  domain: actionDomain.optional(),
  risk: risk.optional(),
  isEnabled: z.boolean().optional(),
});
export type McpToolChoice = z.infer<typeof mcpToolChoice>;

/** A tool as its server describes it; invisible characters are taken out and counted. */
export const mcpToolDefinition = z.object({
  name: z.string(),
  /** The name that the model uses. */
  toolName: z.string(),
  title: z.string().nullable(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  /** The server's own hints: shown, never believed. */
  hints: z.record(z.string(), z.unknown()),
  /** What was wrong with the description: invisible characters, too long, a name that had to be changed. */
  warnings: z.array(z.string()),
  /** False: it is shown, but no task is offered it; the warnings say why. */
  isUsable: z.boolean(),
});
export type McpToolDefinition = z.infer<typeof mcpToolDefinition>;

/**
 * `new`: never connected, or nothing approved yet. `ready`: usable. `changed`: what it offers differs from what was
 * approved, so its tools are off until someone approves again. `failing`: it cannot be reached. `off`: switched off.
 */
export const mcpServerState = z.enum(['new', 'ready', 'changed', 'failing', 'off']);

export const mcpServer = z.object({
  id,
  name: mcpServerName,
  transport: mcpTransport,
  domain: actionDomain,
  risk,
  toolChoices: z.record(z.string(), mcpToolChoice),
  isEnabled: z.boolean(),
  state: mcpServerState,
  /** What tasks may use. */
  approvedTools: z.array(mcpToolDefinition),
  approvedHash: z.string().nullable(),
  /** What the server offered when it was last asked, when that is not what is approved. */
  offeredTools: z.array(mcpToolDefinition).nullable(),
  offeredHash: z.string().nullable(),
  checkedAt: time.nullable(),
  lastError: failure.nullable(),
  createdAt: time,
  updatedAt: time,
});
export type McpServer = z.infer<typeof mcpServer>;
export const mcpServerList = z.object({ items: z.array(mcpServer) });

export const createMcpServer = z.strictObject({
  name: mcpServerName,
  transport: mcpTransport,
  domain: actionDomain.default('knowledge'),
  risk: risk.default('write'),
});
export const updateMcpServer = z.strictObject({
  transport: mcpTransport.optional(),
  domain: actionDomain.optional(),
  risk: risk.optional(),
  toolChoices: z.record(z.string(), mcpToolChoice).optional(),
  isEnabled: z.boolean().optional(),
});
/** What was seen is what is approved. */
export const approveMcpServer = z.strictObject({ offeredHash: z.string().min(1).max(200) });
