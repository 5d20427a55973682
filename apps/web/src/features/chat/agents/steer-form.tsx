import { MESSAGE_MAX_LENGTH } from '@vitto/contracts';
import { useEffect, useRef, useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { FailureNote } from '../../../components/failure-note.tsx';
import { TextInput } from '../../../components/inputs.tsx';
import { useKept } from '../../../components/kept-state.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { groupStrings } from './strings.ts';
import { useAgentRequest } from './use-agent-request.ts';

/** Tells one sub-Vitto something. The text is kept until it has arrived. */
export function SteerForm(props: {
  taskId: string;
  name: string;
  /** What is being written to one that has ended meanwhile stays; the server says why it cannot be sent. */
  isEnded: boolean;
  onClose: () => void;
}) {
  const { taskId, name, isEnded, onClose } = props;
  const strings = useFeatureStrings(groupStrings);
  const { cancel } = useStrings().app;
  const { api } = useVitto();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useKept('steer', '');
  const [isSent, setSent] = useState(false);
  const { request, isBusy, error } = useAgentRequest((key) =>
    api.steerTask(taskId, { text: text.trim() }, key),
  );
  useEffect(() => field.current?.focus(), []);
  const send = async () => {
    if (text.trim() === '' || !(await request(text.trim()))) return;
    setText('');
    setSent(true);
  };
  if (isEnded && text === '') return null;
  return (
    <form
      className="appear mt-2 grid gap-2"
      aria-label={strings.steerThis(name)}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      {error !== null && <FailureNote title={strings.steerFailed} error={error} />}
      <div className="flex flex-wrap gap-2">
        <TextInput
          ref={field}
          className="flex-[1_1_14rem]"
          dir="auto"
          maxLength={MESSAGE_MAX_LENGTH}
          aria-label={strings.message}
          placeholder={strings.message}
          value={text}
          readOnly={isBusy}
          onChange={(event) => {
            setText(event.target.value);
            setSent(false);
          }}
        />
        <Button type="submit" aria-disabled={isBusy || text.trim() === ''}>
          {isBusy ? strings.sending : strings.send}
        </Button>
        <Button look="quiet" onClick={onClose}>
          {cancel}
        </Button>
      </div>
      <p role="status" className="text-sm text-muted empty:hidden">
        {isSent && strings.sent}
      </p>
    </form>
  );
}
