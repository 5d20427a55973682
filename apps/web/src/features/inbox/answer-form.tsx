import { useState, type KeyboardEvent } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { inboxStrings } from './strings.ts';

/** An answer in words of one's own. What was typed stays until it has arrived. */
export function AnswerForm({ onAnswer }: { onAnswer: (text: string) => Promise<ApiError | null> }) {
  const strings = useFeatureStrings(inboxStrings);
  const [text, setText] = useState('');
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const maySend = text.trim() !== '' && !isSending;
  const send = () => {
    if (!maySend) return;
    setSending(true);
    setError(null);
    void onAnswer(text).then((failure) => {
      setError(failure);
      setSending(false);
      if (failure === null) setText('');
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {error !== null && <FailureNote title={strings.answerFailed} error={error} />}
      <div className="flex items-end gap-2">
        <textarea
          rows={1}
          dir="auto"
          aria-label={strings.answer}
          placeholder={strings.answer}
          readOnly={isSending}
          className="field-sizing-content max-h-40 min-h-9 min-w-0 flex-1 resize-none rounded-md border border-line-strong bg-surface px-3 py-1.5 placeholder:text-muted"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button type="submit" className="min-h-9" disabled={!maySend}>
          {isSending ? strings.sending : strings.sendAnswer}
        </Button>
      </div>
    </form>
  );
}
