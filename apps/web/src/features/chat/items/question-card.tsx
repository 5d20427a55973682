import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Markdown } from '../../../components/markdown.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { QuestionItem } from '../model/view.ts';
import { useThreadActions } from '../thread-actions.ts';

/** A question that the task waits on: choices as buttons, or any answer in the composer. */
export function QuestionCard({ item }: { item: QuestionItem }) {
  const strings = useStrings();
  const { answer } = useThreadActions();
  const [chosen, setChosen] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const isOpen = item.state === 'open';
  const choose = (choice: string) => {
    setChosen(choice);
    setError(null);
    void answer(item, choice).then((failure) => {
      setError(failure);
      if (failure !== null) setChosen(null);
    });
  };
  return (
    <article
      className={`appear grid min-w-0 gap-3 rounded-lg border px-4 py-3 ${isOpen ? 'border-amber-line bg-amber-soft' : 'border-line bg-surface'}`}
    >
      <h2 className={`flex items-center gap-2 font-semibold ${isOpen ? 'text-amber' : ''}`}>
        <Icon name="chat" />
        {item.isOfAgent ? strings.question.ofAgent : strings.question.title}
      </h2>
      <div className="prose">
        <Markdown text={item.question} />
      </div>
      {isOpen && item.choices.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {item.choices.map((choice) => (
            <Button key={choice} disabled={chosen !== null} onClick={() => choose(choice)}>
              <span dir="auto">{choice.toWellFormed()}</span>
            </Button>
          ))}
        </div>
      )}
      {error !== null && <FailureNote title={strings.composer.failed} error={error} />}
      <p className="text-xs text-muted">
        {isOpen && item.isOfAgent ? (
          <Link to="/vitto/inbox" className="text-accent underline">
            {strings.question.inInbox}
          </Link>
        ) : (
          explain(item, strings.question)
        )}
      </p>
    </article>
  );
}

function explain(
  item: QuestionItem,
  words: { answerBelow: string; writeBelow: string; answered: string; closed: string },
): string {
  if (item.state === 'answered') return words.answered;
  if (item.state === 'closed') return words.closed;
  return item.choices.length > 0 ? words.answerBelow : words.writeBelow;
}
