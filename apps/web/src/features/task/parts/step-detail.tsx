import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage, useStrings } from '../../../i18n/strings-context.tsx';
import { ThreadItem } from '../../chat/items/thread-item.tsx';
import { ToolDetail } from '../../chat/items/tool-detail.tsx';
import { EMPTY_LOG, foldConversation } from '../../chat/model/fold-conversation.ts';
import { formatCost, formatCount, formatDuration } from '../../chat/model/format.ts';
import type { Item } from '../../chat/model/view.ts';
import { ThreadActionsContext } from '../../chat/thread-actions.ts';
import { AnswerForm } from '../../inbox/answer-form.tsx';
import { useTaskAnswer } from '../../inbox/use-task-answer.ts';
import type { Step } from '../model/step.ts';
import { taskStrings } from '../strings.ts';
import { AgentDetail } from './agent-detail.tsx';
import { Fact } from './fact.tsx';
import { RawEvents } from './raw-events.tsx';

/** Everything of a step, by the chat's own cards, and the events that it was read from. */
export function StepDetail({ step, taskId }: { step: Step; taskId: string }) {
  const answer = useTaskAnswer(taskId);
  const actions = { answer, edit: () => {}, retry: () => {}, whyNotEdit: 'running' } as const;
  // What an event of an agent says is shown here as it is for any task.
  const { items } = foldConversation(EMPTY_LOG, step.events).view;
  const question = step.kind === 'wait' && step.endedAt === null ? findQuestion(items) : null;
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 py-3">
      {step.kind === 'turn' && <TurnFacts step={step} />}
      {step.kind === 'agent' && <AgentDetail step={step} />}
      <ThreadActionsContext value={actions}>
        {items
          .filter((item) => belongs(item, step))
          .map((item) => (
            <ItemView key={item.key} item={item} />
          ))}
        {question !== null && (
          <>
            <ThreadItem item={question} />
            <AnswerForm onAnswer={(text) => answer(question, text)} />
          </>
        )}
      </ThreadActionsContext>
      <RawEvents events={step.events} />
    </div>
  );
}

/** A turn's calls are steps of their own; an open question is shown with its answer. */
function belongs(item: Item, step: Step): boolean {
  if (item.kind === 'question' || item.kind === 'raw' || step.kind === 'agent') return false;
  return step.kind === 'turn' ? item.kind === 'answer' : true;
}

function findQuestion(items: readonly Item[]): Extract<Item, { kind: 'question' }> | null {
  return items.find((item) => item.kind === 'question') ?? null;
}

function ItemView({ item }: { item: Item }) {
  if (item.kind === 'tool') return <ToolDetail item={item} />;
  if (item.kind !== 'user') return <ThreadItem item={item} />;
  return (
    <p
      className="max-h-96 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]"
      dir="auto"
      tabIndex={0}
    >
      {item.text.toWellFormed()}
    </p>
  );
}

function TurnFacts({ step }: { step: Step }) {
  const strings = useFeatureStrings(taskStrings);
  const shared = useStrings();
  const language = useLanguage();
  const { turn: facts } = step;
  if (facts === undefined) return null;
  const words = strings.turnFacts;
  const { usage } = facts;
  const took = step.endedAt === null ? null : Date.parse(step.endedAt) - Date.parse(step.startedAt);
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
      {facts.model !== null && <Fact name={words.model}>{facts.model.toWellFormed()}</Fact>}
      {usage !== null && (
        <>
          <Fact name={words.input}>{formatCount(usage.inputTokens, language)}</Fact>
          {usage.cachedInputTokens > 0 && (
            <Fact name={words.cached}>{formatCount(usage.cachedInputTokens, language)}</Fact>
          )}
          <Fact name={words.output}>{formatCount(usage.outputTokens, language)}</Fact>
          {usage.reasoningTokens > 0 && (
            <Fact name={words.reasoning}>{formatCount(usage.reasoningTokens, language)}</Fact>
          )}
          <Fact name={words.cost}>{formatCost(facts.costUsd, shared.end.costUnknown, language)}</Fact>
        </>
      )}
      {took !== null && <Fact name={words.took}>{formatDuration(took)}</Fact>}
      {facts.tries > 1 && <Fact name={words.tries}>{facts.tries}</Fact>}
      {facts.finishReason !== null && <Fact name={words.finish}>{facts.finishReason}</Fact>}
    </dl>
  );
}
