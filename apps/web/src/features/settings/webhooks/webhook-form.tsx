import { NOTICE_EVENTS, type NoticeEvent } from '@vitto/contracts';
import { useState } from 'react';
import { CheckboxGroup } from '../../../components/checkbox-group.tsx';
import { Field } from '../../../components/field.tsx';
import { TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, fieldError, SaveLine } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { webhooksStrings } from './strings.ts';

export interface WebhookFields {
  url: string;
  description: string;
  events: NoticeEvent[];
}
export const EMPTY_WEBHOOK: WebhookFields = {
  url: '',
  description: '',
  events: ['approval.requested', 'task.completed', 'task.failed'],
};

interface WebhookFormProps {
  /** Where what is typed is kept until it is saved. */
  draftName: string;
  saved: WebhookFields;
  label: string;
  failed: string;
  /** Stores it; `key` makes a repeated request one. */
  onSave: (key: string, fields: WebhookFields) => Promise<void>;
  onClose: () => void;
}

/** What a webhook is, for a new one as for one that is there. */
export function WebhookForm({ draftName, saved, label, failed, onSave, onClose }: WebhookFormProps) {
  const words = useFeatureStrings(webhooksStrings);
  const draft = useDraft(draftName, saved);
  const { url, description, events } = draft.value;
  const [hasTried, setTried] = useState(false);
  const save = useAction(async (key) => {
    await onSave(key, { url: url.trim(), description, events });
    return true;
  });
  const change = (part: Partial<WebhookFields>) => {
    save.forget();
    draft.change({ ...draft.value, ...part });
  };
  const close = () => {
    draft.reset();
    onClose();
  };
  const submit = async () => {
    setTried(true);
    if (!isWebUrl(url) || events.length === 0) return;
    if ((await save.run()) !== null) close();
  };
  return (
    <form
      noValidate
      className="appear grid gap-3 rounded-lg border border-line-strong p-3"
      onKeyDown={(event) => event.key === 'Escape' && close()}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Field
        label={words.url}
        description={words.urlHelp}
        error={hasTried && !isWebUrl(url) ? words.noUrl : fieldError(save.error, 'url')}
      >
        {(control) => (
          <TextInput
            {...control}
            isExact
            autoFocus
            inputMode="url"
            maxLength={2000}
            value={url}
            onChange={(event) => change({ url: event.target.value })}
          />
        )}
      </Field>
      <Field label={words.description}>
        {(control) => (
          <TextInput
            {...control}
            maxLength={200}
            value={description}
            onChange={(event) => change({ description: event.target.value })}
          />
        )}
      </Field>
      <CheckboxGroup
        legend={words.events}
        options={NOTICE_EVENTS}
        labels={words.event}
        chosen={events}
        error={hasTried && events.length === 0 ? words.noEvent : null}
        onChange={(next) => change({ events: next })}
      />
      <ActionFailure title={failed} error={save.error} />
      <SaveLine label={label} isBusy={save.isBusy} onCancel={close} />
    </form>
  );
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text.trim());
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
}
