import { eventPayloads, type EventEnvelope, type EventPayload, type EventType } from '@vitto/contracts';

/** A valid id that is easy to tell apart: the number of a thing. */
export function idOf(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

export const BUDGET = { maxIterations: 50, maxTokens: 500_000, maxCostUsd: null, maxDurationMs: null };
export const SPENDING = { iterations: 1, tokens: 1200, costUsd: 0.0123, durationMs: 4200 };
export const USAGE = {
  inputTokens: 1000,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 200,
  reasoningTokens: 0,
};

/** Makes events as the journal does: gapless positions, gapless numbers a task, payloads that fit their schema. */
export class EventMaker {
  #position = 0;
  readonly #seqs = new Map<string, number>();
  readonly conversationId: string;

  constructor(conversationId = idOf(9)) {
    this.conversationId = conversationId;
  }

  get lastPosition(): number {
    return this.#position;
  }

  make<T extends EventType>(taskId: string, type: T, payload: EventPayload<T>): EventEnvelope {
    return this.raw(taskId, type, eventPayloads[type].parse(payload));
  }

  /** An event of any type and shape. */
  raw(taskId: string, type: string, payload: Record<string, unknown>): EventEnvelope {
    const seq = (this.#seqs.get(taskId) ?? 0) + 1;
    this.#seqs.set(taskId, seq);
    this.#position += 1;
    return { position: this.#position, taskId, seq, type, at: new Date().toISOString(), payload };
  }

  created(taskId: string, more: Partial<EventPayload<'task.created'>> = {}): EventEnvelope {
    return this.make(taskId, 'task.created', {
      kind: 'chat',
      depth: 0,
      parentTaskId: null,
      conversationId: this.conversationId,
      role: null,
      title: 'a task',
      tier: null,
      complexity: 'simple',
      estimatedDuration: 'short',
      budget: BUDGET,
      ...more,
    });
  }

  said(taskId: string, text: string, more: Partial<EventPayload<'user.message'>> = {}): EventEnvelope {
    return this.make(taskId, 'user.message', {
      messageId: crypto.randomUUID(),
      text,
      source: 'web',
      ...more,
    });
  }

  started(taskId: string): EventEnvelope {
    return this.make(taskId, 'task.started', { worker: 'w1', fence: 1 });
  }

  text(taskId: string, turn: number, delta: string, attempt = 1): EventEnvelope {
    return this.make(taskId, 'agent.text', { turn, attempt, delta });
  }

  turn(
    taskId: string,
    turn: number,
    text: string,
    more: {
      calls?: { id: string; tool: string; input: unknown }[];
      model?: string;
      costUsd?: number | null;
    } = {},
  ): EventEnvelope {
    const calls = (more.calls ?? []).map((call) => ({
      type: 'tool-call',
      toolCallId: call.id,
      toolName: call.tool,
      input: call.input,
    }));
    return this.make(taskId, 'agent.turn_completed', {
      turn,
      attempt: 1,
      model: more.model ?? 'anthropic/claude',
      message: { role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text', text }]), ...calls] },
      finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
      usage: USAGE,
      costUsd: more.costUsd === undefined ? 0.01 : more.costUsd,
      durationMs: 900,
    });
  }

  starting(taskId: string, callId: string, tool: string, args: unknown): EventEnvelope {
    return this.make(taskId, 'tool.starting', {
      callId,
      turn: 1,
      tool,
      arguments: args as never,
      idempotency: 'once',
      risk: 'write',
      domain: 'code_execution',
      tier: 'vm',
      decision: { verdict: 'act', reason: 'contained in the sandbox' },
    });
  }

  progress(taskId: string, callId: string, text: string): EventEnvelope {
    return this.make(taskId, 'tool.progress', { callId, stream: 'stdout', text });
  }

  called(
    taskId: string,
    callId: string,
    tool: string,
    more: Partial<EventPayload<'tool.called'>> = {},
  ): EventEnvelope {
    return this.make(taskId, 'tool.called', {
      callId,
      turn: 1,
      tool,
      status: 'ok',
      text: 'done',
      durationMs: 1234,
      tier: 'vm',
      ...more,
    });
  }

  asked(
    taskId: string,
    callId: string,
    approvalId: string,
    args: unknown,
    more: Partial<EventPayload<'approval.requested'>> = {},
  ): EventEnvelope {
    return this.make(taskId, 'approval.requested', {
      approvalId,
      callId,
      tool: 'run_command',
      arguments: args as never,
      argumentsHash: 'h'.repeat(64),
      reason: 'It changes files outside of the sandbox.',
      risk: 'irreversible',
      domain: 'code_execution',
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      ...more,
    });
  }

  completed(
    taskId: string,
    result: string,
    more: Partial<EventPayload<'task.completed'>> = {},
  ): EventEnvelope {
    return this.make(taskId, 'task.completed', { result, success: true, spending: SPENDING, ...more });
  }
}
