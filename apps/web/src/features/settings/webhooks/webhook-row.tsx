import type { Webhook, WebhookTest } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { Details } from '../../../components/details.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, Card, StateWord } from '../parts.tsx';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { Deliveries } from './deliveries.tsx';
import { webhooksStrings } from './strings.ts';
import { WebhookForm } from './webhook-form.tsx';
import { changeWebhook, deleteWebhook, testWebhook, webhooksQuery } from './webhooks-api.ts';

export function WebhookRow({ webhook }: { webhook: Webhook }) {
  const words = useFeatureStrings(webhooksStrings);
  const common = useFeatureStrings(settingsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: webhooksQuery(client).queryKey });
  const remove = useAction(async () => {
    await deleteWebhook(client, webhook.id);
    await refresh();
  });
  const change = useAction(async () => {
    await changeWebhook(client, webhook.id, { isEnabled: !webhook.isEnabled });
    await refresh();
  });
  const draftName = `webhooks.${webhook.id}`;
  const saved = { url: webhook.url, description: webhook.description, events: webhook.events };
  const [isEditing, setEditing] = useState(useDraft(draftName, saved).isChanged);
  const [test, setTest] = useState<WebhookTest | null>(null);
  const tryOut = useAction(async () => setTest(await testWebhook(client, webhook.id)));
  return (
    <Card label={webhook.url}>
      <div className="flex flex-wrap items-center gap-2">
        <span className="mono min-w-0 flex-1 font-medium break-all" dir="ltr">
          {webhook.url.toWellFormed()}
        </span>
        <StateWord tone={webhook.isEnabled ? 'good' : webhook.disabledReason === null ? 'quiet' : 'bad'}>
          {webhook.isEnabled ? words.on : words.off}
        </StateWord>
      </div>
      {webhook.description !== '' && (
        <p dir="auto" className="break-words">
          {webhook.description.toWellFormed()}
        </p>
      )}
      {webhook.disabledReason !== null && <p className="text-red">{webhook.disabledReason}</p>}
      <p className="text-muted">{webhook.events.map((event) => words.event[event].label).join(' · ')}</p>
      <div className="flex flex-wrap items-center gap-2">
        <Button aria-disabled={tryOut.isBusy} onClick={() => void tryOut.run()}>
          {tryOut.isBusy ? words.testing : words.test}
        </Button>
        <Button aria-disabled={change.isBusy} onClick={() => void change.run()}>
          {webhook.isEnabled ? words.switchOff : words.switchOn}
        </Button>
        {!isEditing && (
          <Button aria-label={words.editName(webhook.url)} onClick={() => setEditing(true)}>
            {words.edit}
          </Button>
        )}
        <ConfirmInPlace
          label={common.delete}
          name={words.deleteName(webhook.url)}
          question={words.question}
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run()}
        />
      </div>
      {isEditing && (
        <WebhookForm
          draftName={draftName}
          saved={saved}
          label={common.save}
          failed={words.notChanged}
          onSave={async (_key, fields) => {
            await changeWebhook(client, webhook.id, fields);
            await refresh();
          }}
          onClose={() => setEditing(false)}
        />
      )}
      <div role="status" className="empty:hidden">
        {test !== null && !tryOut.isBusy && <TestResult test={test} />}
      </div>
      <ActionFailure title={words.testFailed} error={tryOut.error} />
      <ActionFailure title={words.notChanged} error={change.error ?? remove.error} />
      <Details summary={words.deliveries}>
        <Deliveries webhookId={webhook.id} />
      </Details>
    </Card>
  );
}

function TestResult({ test }: { test: WebhookTest }) {
  const words = useFeatureStrings(webhooksStrings);
  if (test.isOk) return <p className="text-green">{words.testOk(test.status ?? 0, test.durationMs)}</p>;
  return (
    <p className="text-red">
      {words.testFailed} {test.error}
    </p>
  );
}
