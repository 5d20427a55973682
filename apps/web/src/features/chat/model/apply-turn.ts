import type { KnownEvent, Usage } from '@vitto/contracts';
import { endSynthesis } from './apply-agents.ts';
import { callKey, newToolItem, QUIET_TOOLS } from './tool-item.ts';
import { isScriptedModel, placeOf, type AnswerItem } from './view.ts';
import type { ViewDraft } from './view-draft.ts';

type TurnEvent = Extract<
  KnownEvent,
  { type: 'agent.iteration' | 'agent.text' | 'agent.reasoning' | 'agent.turn_completed' | 'model.retry' }
>;
type Completed = Extract<TurnEvent, { type: 'agent.turn_completed' }>;

/** What the model says: deltas first, then the whole message, which alone counts. */
export function applyTurn(draft: ViewDraft, event: TurnEvent): void {
  const task = draft.task(event.taskId);
  if (task.depth > 0) {
    if (event.type === 'agent.turn_completed') addSpending(draft, event);
    return;
  }
  if (event.payload.turn > task.turn) draft.putTask({ ...task, turn: event.payload.turn });
  switch (event.type) {
    case 'agent.iteration':
      return;
    case 'agent.text':
    case 'agent.reasoning':
      return addDelta(draft, event);
    case 'model.retry':
      return discardAttempt(draft, event);
    case 'agent.turn_completed':
      addSpending(draft, event);
      return completeTurn(draft, event);
  }
}

function answerOf(draft: ViewDraft, event: TurnEvent): AnswerItem {
  const key = `turn:${event.taskId}:${event.payload.turn}`;
  return (
    draft.find('answer', key) ?? {
      kind: 'answer',
      key,
      ...placeOf(event),
      turn: event.payload.turn,
      state: 'streaming',
      attempt: 1,
      text: '',
      reasoning: '',
      discarded: [],
      model: null,
      used: null,
    }
  );
}

function addDelta(
  draft: ViewDraft,
  event: Extract<TurnEvent, { type: 'agent.text' | 'agent.reasoning' }>,
): void {
  let answer = answerOf(draft, event);
  const { attempt, delta } = event.payload;
  if (answer.state === 'done' || attempt < answer.attempt) return;
  if (attempt > answer.attempt) answer = setAside(answer, 'replaced', '', null, attempt);
  draft.put({
    ...answer,
    state: 'streaming',
    ...(event.type === 'agent.text'
      ? { text: answer.text + delta }
      : { reasoning: answer.reasoning + delta }),
  });
}

function discardAttempt(draft: ViewDraft, event: Extract<TurnEvent, { type: 'model.retry' }>): void {
  const answer = answerOf(draft, event);
  const { attempt, reason, message, delayMs } = event.payload;
  if (answer.state === 'done') return;
  const next = Math.max(attempt + 1, answer.attempt);
  draft.put({
    ...answer,
    attempt: next,
    text: '',
    reasoning: '',
    discarded: [
      ...answer.discarded,
      { attempt, text: answer.attempt <= attempt ? answer.text : '', reason, message, delayMs },
    ],
  });
}

/** Empties an answer and keeps what it had said, when that was anything. */
export function setAside(
  answer: AnswerItem,
  reason: string,
  message: string,
  delayMs: number | null,
  nextAttempt: number,
): AnswerItem {
  const hadText = answer.text !== '' || answer.reasoning !== '';
  const discarded = { attempt: answer.attempt, text: answer.text, reason, message, delayMs };
  return {
    ...answer,
    attempt: nextAttempt,
    text: '',
    reasoning: '',
    discarded: hadText ? [...answer.discarded, discarded] : answer.discarded,
  };
}

function completeTurn(draft: ViewDraft, event: Completed): void {
  endSynthesis(draft, event.taskId);
  const { message, model, attempt, usage, costUsd, durationMs } = event.payload;
  draft.put({
    ...answerOf(draft, event),
    state: 'done',
    attempt,
    text: joinText(message.content, 'text'),
    reasoning: joinText(message.content, 'reasoning'),
    model,
    used: { usage, costUsd, durationMs },
  });
  if (isScriptedModel(model)) draft.putTask({ ...draft.task(event.taskId), isScripted: true });
  for (const part of message.content) {
    const { toolCallId, toolName } = part;
    if (part.type !== 'tool-call' || typeof toolCallId !== 'string' || typeof toolName !== 'string') continue;
    if (QUIET_TOOLS.has(toolName) || draft.has(callKey(event.taskId, toolCallId))) continue;
    draft.put({ ...newToolItem(event, toolCallId, toolName), arguments: part['input'] ?? null });
  }
}

function joinText(content: Completed['payload']['message']['content'], type: string): string {
  return content
    .map((part) => (part.type === type && typeof part['text'] === 'string' ? part['text'] : ''))
    .filter((text) => text !== '')
    .join('\n\n');
}

/** What a turn cost is spent by its task and by every task above it. */
function addSpending(draft: ViewDraft, event: Completed): void {
  const { usage, costUsd } = event.payload;
  for (const [level, task] of draft.lineage(event.taskId).entries()) {
    const { spending } = task;
    draft.putTask({
      ...task,
      spending: {
        iterations: spending.iterations + (level === 0 ? 1 : 0),
        tokens: spending.tokens + countTokens(usage),
        costUsd: spending.costUsd === null || costUsd === null ? null : spending.costUsd + costUsd,
        durationMs: spending.durationMs,
      },
    });
  }
}

function countTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}
