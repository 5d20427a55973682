import { ProtocolError, type Progress } from '@modelcontextprotocol/client';
import canonicalize from 'canonicalize';
import type { McpToolDefinition } from '@vitto/contracts';
import { z } from 'zod';
import {
  defineTool,
  stripInvisible,
  type Tool,
  type ToolContext,
  type ToolPlugin,
  type ToolResult,
} from '../../engine/index.ts';
import { AppError } from '../../kernel/app-error.ts';
import { cutText } from '../../kernel/text/cut.ts';
import { maskSecrets } from '../../kernel/text/mask-secrets.ts';
import type { Sql } from '../../kernel/database/database.ts';
import { compileInputCheck, type InputCheck } from './check-input.ts';
import { readCallResult } from './call-result.ts';
import type { McpConnections } from './mcp-connections.ts';
import { findMcpServer, type McpServerRecord } from './mcp-server.store.ts';
import { CONNECTION_LIMITS } from './server-connection.ts';

/** What a call reaches: its server's record as it is then, and the connections. */
export interface McpCalls {
  sql: Sql;
  connections: Pick<McpConnections, 'call'>;
}

/** The tools of a server that its user has approved, with the domain and the risk that the user says. */
export function createMcpPlugin(server: McpServerRecord, calls: McpCalls): ToolPlugin {
  const tools = server.approvedTools
    .filter(({ name, isUsable }) => isUsable && server.toolChoices[name]?.isEnabled !== false)
    .map((definition) => createMcpTool(server, definition, calls));
  return { name: `mcp:${server.name}`, tools };
}

function createMcpTool(server: McpServerRecord, definition: McpToolDefinition, calls: McpCalls): Tool {
  const choice = server.toolChoices[definition.name];
  const risk = choice?.risk ?? server.risk;
  const what = definition.description === '' ? (definition.title ?? definition.name) : definition.description;
  return defineTool({
    name: definition.toolName,
    description: `(A tool of the MCP server "${server.name}", described by that server.) ${what}`,
    input: inputOf(definition),
    inputSchema: definition.inputSchema,
    domain: choice?.domain ?? server.domain,
    risk,
    tier: 'in-process',
    idempotency: risk === 'read' ? 'idempotent' : 'once',
    // The connection has the limits that matter; this one only ends what those did not.
    timeoutMs: CONNECTION_LIMITS.totalMs + CONNECTION_LIMITS.connectMs,
    run: async (input, context) => {
      try {
        return await runCall(server, definition, input as Record<string, unknown>, context, calls);
      } catch (error) {
        context.signal.throwIfAborted();
        return toFailure(error, server.name);
      }
    },
  });
}

/** The check is made at the first call: most tools that are offered are never called. */
function inputOf(definition: McpToolDefinition): z.ZodType {
  let check: InputCheck | null = null;
  return z.unknown().superRefine((input, context) => {
    check ??= compileInputCheck(definition.inputSchema);
    const problem = check(input);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });
}

async function runCall(
  offered: McpServerRecord,
  definition: McpToolDefinition,
  input: Record<string, unknown>,
  context: ToolContext,
  { sql, connections }: McpCalls,
): Promise<ToolResult> {
  const server = await findMcpServer(sql, offered.userId, offered.id);
  if (server === null || !server.isEnabled || server.toolChoices[definition.name]?.isEnabled === false) {
    throw new AppError('mcp.off', `The user has switched ${definition.toolName} off.`, {
      hint: 'Go on without it.',
    });
  }
  const current = server.approvedTools.find(({ name }) => name === definition.name);
  if (canonicalize(current) !== canonicalize(definition)) throw toolsChanged(server.name);
  const result = await connections.call(server, definition.name, input, {
    signal: context.signal,
    onProgress: (progress) => context.reportProgress('note', describeProgress(progress)),
    checkOffer: ({ hash }) => {
      if (hash !== server.approvedHash) throw toolsChanged(server.name);
    },
  });
  return readCallResult(result, { server: server.name, tool: definition.name }, context.artifacts);
}

function toolsChanged(server: string): AppError {
  return new AppError(
    'mcp.tools-changed',
    `The tools of the MCP server ${server} are not the ones that the user has approved for this task.`,
    {
      hint: 'They stay off until the user looks at the change under Settings, "MCP servers", and approves it. Go on without them, or tell the user.',
    },
  );
}

function describeProgress({ progress, total, message }: Progress): string {
  const text = stripInvisible(cutText(message ?? '', 500)).text.replaceAll('\n', ' ');
  const count = total === undefined ? `${progress}` : `${progress}/${total}`;
  return `${text === '' ? count : `${count} ${text}`}\n`;
}

/** Failures are results; what the server itself says in one is framed as what it is. Anything else is a defect. */
function toFailure(error: unknown, server: string): ToolResult {
  if (error instanceof AppError) {
    const { code, message, hint } = error;
    return {
      status: code === 'mcp.timeout' ? 'timeout' : 'error',
      text: `${code}: ${stripInvisible(message).text}${hint === undefined ? '' : ` ${hint}`}`,
      data: { code },
      ...(code === 'mcp.unavailable' ? { untrusted: `mcp:${server}` } : {}),
    };
  }
  if (!ProtocolError.isInstance(error)) throw error;
  return {
    status: 'error',
    text: `mcp.refused: ${cutText(maskSecrets(stripInvisible(error.message).text), 4_000)}`,
    data: { code: 'mcp.refused' },
    untrusted: `mcp:${server}`,
  };
}
