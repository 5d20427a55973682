import { randomUUID } from 'node:crypto';
import type { Approval, NewEvent } from '@vitto/contracts';

/** Short ways to write the events that tests need most. */

export const noSpending = { iterations: 1, tokens: 1234, costUsd: null, durationMs: 1500 };

export function text(delta: string, turn = 1, attempt = 1): NewEvent {
  return { type: 'agent.text', payload: { turn, attempt, delta } };
}

export function turnCompleted(answer: string, options: { turn?: number; model?: string } = {}): NewEvent {
  const usage = {
    inputTokens: 10,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 5,
    reasoningTokens: 0,
  };
  return {
    type: 'agent.turn_completed',
    payload: {
      turn: options.turn ?? 1,
      attempt: 1,
      model: options.model ?? 'anthropic/claude-test',
      message: { role: 'assistant', content: [{ type: 'text', text: answer }] },
      finishReason: 'stop',
      usage,
      costUsd: null,
      durationMs: 900,
    },
  };
}

export function completed(result: string, success = true): NewEvent {
  return { type: 'task.completed', payload: { result, success, spending: noSpending } };
}

export function failed(code: string, message: string, hint?: string): NewEvent {
  return {
    type: 'task.failed',
    payload: { error: { code, message, ...(hint === undefined ? {} : { hint }) } },
  };
}

export function toolStarting(callId: string, tool: string, args: Record<string, string>): NewEvent {
  const decision = { verdict: 'act' as const, reason: 'read only' };
  const kind = {
    idempotency: 'pure' as const,
    risk: 'read' as const,
    domain: 'code_execution' as const,
    tier: 'vm' as const,
  };
  return { type: 'tool.starting', payload: { callId, turn: 1, tool, arguments: args, decision, ...kind } };
}

export function toolCalled(callId: string, tool: string, durationMs = 250): NewEvent {
  return {
    type: 'tool.called',
    payload: { callId, turn: 1, tool, status: 'ok', text: 'done', durationMs, tier: 'vm' },
  };
}

export function newApproval(taskId: string, args: Record<string, string>): Approval {
  const now = Date.now();
  return {
    id: randomUUID(),
    taskId,
    callId: 'call-1',
    tool: 'run_command',
    arguments: args,
    argumentsHash: 'hash-of-arguments',
    reason: 'it changes files',
    risk: 'write',
    domain: 'code_execution',
    state: 'pending',
    note: null,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 3_600_000).toISOString(),
    decidedAt: null,
  };
}

export function approvalRequested(approval: Approval): NewEvent {
  const {
    id: approvalId,
    callId,
    tool,
    arguments: args,
    argumentsHash,
    reason,
    risk,
    domain,
    expiresAt,
  } = approval;
  const payload = {
    approvalId,
    callId,
    tool,
    arguments: args,
    argumentsHash,
    reason,
    risk,
    domain,
    expiresAt,
  };
  return { type: 'approval.requested', payload };
}

export function parkedForApproval(approval: Approval): NewEvent {
  const waitingFor = { kind: 'approval' as const, approvalIds: [approval.id] };
  return { type: 'task.parked', payload: { state: 'waiting_approval', waitingFor } };
}
