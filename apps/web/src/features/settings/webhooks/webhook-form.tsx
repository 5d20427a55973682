import { NOTICE_EVENTS, type NoticeEvent } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { CheckboxGroup } from '../../../components/checkbox-group.tsx';
import { Field } from '../../../components/field.tsx';
import { TextInput } from '../../../components/inputs.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, fieldError, SaveLine } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { webhooksStrings } from './strings.ts';
import { createWebhook, webhooksQuery, type CreatedWebhook } from './webhooks-api.ts';

export const EMPTY_WEBHOOK = {
  url: '',
  description: '',
  events: ['approval.requested', 'task.completed', 'task.failed'] as NoticeEvent[],
};

export function WebhookForm(props: { onMade: (webhook: CreatedWebhook) => void; onClose: () => void }) {
  const words = useFeatureStrings(webhooksStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const draft = useDraft('webhooks.add', EMPTY_WEBHOOK);
  const { url, description, events } = draft.value;
  const [hasTried, setTried] = useState(false);
  const make = useAction((key) => createWebhook(client, { url: url.trim(), description, events }, key));
  const change = (part: Partial<typeof EMPTY_WEBHOOK>) => {
    make.forget();
    draft.change({ ...draft.value, ...part });
  };
  const close = () => {
    draft.reset();
    props.onClose();
  };
  const submit = async () => {
    setTried(true);
    if (!isWebUrl(url) || events.length === 0) return;
    const made = await make.run();
    if (made === null) return;
    close();
    props.onMade(made);
    await queries.invalidateQueries({ queryKey: webhooksQuery(client).queryKey });
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
        error={hasTried && !isWebUrl(url) ? words.noUrl : fieldError(make.error, 'url')}
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
      <ActionFailure title={words.notMade} error={make.error} />
      <SaveLine label={words.make} isBusy={make.isBusy} onCancel={close} />
    </form>
  );
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text.trim());
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
}
