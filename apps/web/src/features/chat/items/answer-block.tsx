import { WrittenMarkdown } from '../../../components/markdown.tsx';
import { Details } from '../../../components/details.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { formatDuration } from '../model/format.ts';
import { TurnUseLine } from './turn-use-line.tsx';
import type { AnswerItem, DiscardedAttempt } from '../model/view.ts';

/** A turn's words, as a document. What did not count stays visible, set aside. */
export function AnswerBlock({ item }: { item: AnswerItem }) {
  const strings = useStrings();
  const isLive = item.state === 'streaming';
  return (
    <article className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3" aria-busy={isLive}>
      <span className="sr-only">{strings.thread.vitto}: </span>
      {item.discarded.map((discarded, index) => (
        <Discarded key={index} discarded={discarded} isWaiting={isLive && item.text === ''} />
      ))}
      {item.reasoning.trim() !== '' && (
        <Details
          name="reasoning"
          summary={isLive && item.text === '' ? strings.answer.reasoningLive : strings.answer.reasoning}
        >
          <p className="text-muted whitespace-pre-wrap [overflow-wrap:anywhere]" dir="auto">
            {item.reasoning.toWellFormed()}
          </p>
        </Details>
      )}
      {item.text !== '' && (
        <div className="prose">
          <WrittenMarkdown text={item.text} isLive={isLive} />
        </div>
      )}
      {item.state === 'interrupted' && item.text !== '' && (
        <p className="text-sm text-muted">{strings.answer.interrupted}</p>
      )}
      {item.used !== null && <TurnUseLine used={item.used} model={item.model} />}
    </article>
  );
}

function Discarded({ discarded, isWaiting }: { discarded: DiscardedAttempt; isWaiting: boolean }) {
  const strings = useStrings();
  const reason = strings.retryReason[discarded.reason] ?? discarded.reason;
  const delay = discarded.delayMs === null ? null : strings.answer.retryIn(formatDuration(discarded.delayMs));
  return (
    <div className="grid gap-1 text-sm text-muted">
      <p className="flex gap-2">
        <Icon name="warning" className="mt-0.5" />
        <span className="tabular">
          {strings.answer.discarded(reason)} {isWaiting && delay}
        </span>
      </p>
      {discarded.message !== '' && (
        <p className="mono ps-6 [overflow-wrap:anywhere]">{discarded.message.toWellFormed()}</p>
      )}
      {discarded.text !== '' && (
        <div className="ps-6">
          <Details summary={strings.answer.discardedText}>
            <p className="whitespace-pre-wrap line-through decoration-1 [overflow-wrap:anywhere]" dir="auto">
              {discarded.text.toWellFormed()}
            </p>
          </Details>
        </div>
      )}
    </div>
  );
}
