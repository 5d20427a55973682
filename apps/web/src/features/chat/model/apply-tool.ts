import type { KnownEvent } from '@vitto/contracts';
import { endCallOfGroup } from './apply-agents.ts';
import { callKey, newToolItem, QUIET_TOOLS } from './tool-item.ts';
import type { ToolItem } from './view.ts';
import type { ViewDraft } from './view-draft.ts';

type ToolEvent = Extract<KnownEvent, { type: 'tool.starting' | 'tool.progress' | 'tool.called' }>;

/** Live output that is kept, in UTF-16 units; beyond it the oldest goes. */
const OUTPUT_MAX = 64_000;

export function applyTool(draft: ViewDraft, event: ToolEvent): void {
  switch (event.type) {
    case 'tool.starting':
      return startCall(draft, event);
    case 'tool.progress':
      return addProgress(draft, event);
    case 'tool.called':
      return endCall(draft, event);
  }
}

function startCall(draft: ViewDraft, event: Extract<ToolEvent, { type: 'tool.starting' }>): void {
  const { callId, tool, risk, decision } = event.payload;
  // Taken up again after its worker died, a call that has deployed is shown by its group already.
  if (QUIET_TOOLS.has(tool) || draft.find('agents', callKey(event.taskId, callId)) !== null) return;
  const item = draft.find('tool', callKey(event.taskId, callId)) ?? newToolItem(event, callId, tool);
  draft.put({
    ...item,
    arguments: event.payload.arguments,
    risk,
    decision: { verdict: decision.verdict, reason: decision.reason },
    state: decision.verdict === 'refuse' ? 'refused' : 'running',
    startedAt: event.at,
    output: '',
    isOutputCut: false,
  });
}

function addProgress(draft: ViewDraft, event: Extract<ToolEvent, { type: 'tool.progress' }>): void {
  const item = draft.find('tool', callKey(event.taskId, event.payload.callId));
  if (item === null || item.text !== null) return;
  const { stream, text } = event.payload;
  // What it said last is what is shown: a note stands until the program prints.
  const said = stream === 'note' ? { note: text } : { note: null, ...appendOutput(item, text) };
  draft.put({ ...item, ...said });
}

function appendOutput(item: ToolItem, text: string): Pick<ToolItem, 'output' | 'isOutputCut'> {
  const output = item.output + text;
  if (output.length <= OUTPUT_MAX * 2) return { output, isOutputCut: item.isOutputCut };
  // Cut at a line's end: never within an emoji, and seldom within an escape sequence.
  const from = output.indexOf('\n', output.length - OUTPUT_MAX);
  const kept = from === -1 ? output.slice(-OUTPUT_MAX).toWellFormed() : output.slice(from + 1);
  return { output: kept, isOutputCut: true };
}

function endCall(draft: ViewDraft, event: Extract<ToolEvent, { type: 'tool.called' }>): void {
  const { callId, tool, status, text, data, artifacts, untrusted, durationMs, ranOn } = event.payload;
  closeQuestion(draft, event.taskId, callId);
  if ((QUIET_TOOLS.has(tool) && status === 'ok') || endCallOfGroup(draft, event)) return;
  const item = draft.find('tool', callKey(event.taskId, callId)) ?? newToolItem(event, callId, tool);
  draft.put({
    ...item,
    state: status,
    text,
    data,
    artifacts: artifacts ?? [],
    untrusted: untrusted ?? null,
    durationMs,
    ranOn: ranOn ?? null,
    output: '',
    note: null,
  });
}

function closeQuestion(draft: ViewDraft, taskId: string, callId: string): void {
  const key = `question:${taskId}:${callId}`;
  if (draft.find('question', key)?.state === 'open') draft.change('question', key, { state: 'closed' });
}
