import type { EventEnvelope } from '@vitto/contracts';
import { placeOf, type ToolItem } from './view.ts';

/** Tools that people see as something else: the end of the task, a question. Their cards show only when they fail. */
export const QUIET_TOOLS: ReadonlySet<string> = new Set(['task_complete', 'ask_user']);

export function callKey(taskId: string, callId: string): string {
  return `call:${taskId}:${callId}`;
}

export function newToolItem(
  event: Pick<EventEnvelope, 'taskId' | 'at' | 'position'>,
  callId: string,
  tool: string,
): ToolItem {
  return {
    kind: 'tool',
    key: callKey(event.taskId, callId),
    ...placeOf(event),
    callId,
    tool,
    arguments: null,
    state: 'waiting',
    risk: null,
    decision: null,
    startedAt: null,
    durationMs: null,
    output: '',
    isOutputCut: false,
    note: null,
    text: null,
    data: undefined,
    artifacts: [],
    untrusted: null,
    ranOn: null,
  };
}
