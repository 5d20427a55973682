import { NOTICE_EVENTS, type NoticeEvent } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Field } from '../../../components/field.tsx';
import { Checkbox, TextInput } from '../../../components/inputs.tsx';
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
      <Events
        chosen={events}
        isMissing={hasTried && events.length === 0}
        onChange={(next) => change({ events: next })}
      />
      <ActionFailure title={words.notMade} error={make.error} />
      <SaveLine label={words.make} isBusy={make.isBusy} onCancel={close} />
    </form>
  );
}

function Events(props: {
  chosen: readonly NoticeEvent[];
  isMissing: boolean;
  onChange: (next: NoticeEvent[]) => void;
}) {
  const words = useFeatureStrings(webhooksStrings);
  const errorId = useId();
  return (
    <fieldset aria-describedby={props.isMissing ? errorId : undefined}>
      <legend className="font-medium">{words.events}</legend>
      <div className="grid sm:grid-cols-2 sm:gap-x-4">
        {NOTICE_EVENTS.map((event) => (
          <Checkbox
            key={event}
            label={words.event[event].label}
            description={words.event[event].text}
            checked={props.chosen.includes(event)}
            onChange={({ target }) =>
              props.onChange(
                NOTICE_EVENTS.filter((one) => (one === event ? target.checked : props.chosen.includes(one))),
              )
            }
          />
        ))}
      </div>
      {props.isMissing && (
        <p id={errorId} role="alert" className="text-red">
          {words.noEvent}
        </p>
      )}
    </fieldset>
  );
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text.trim());
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
}
