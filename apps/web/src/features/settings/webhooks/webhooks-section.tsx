import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { Loaded, Part } from '../parts.tsx';
import { ShownOnce } from '../shown-once.tsx';
import { webhooksStrings } from './strings.ts';
import { EMPTY_WEBHOOK, WebhookForm } from './webhook-form.tsx';
import { WebhookRow } from './webhook-row.tsx';
import { createWebhook, webhooksQuery, type CreatedWebhook } from './webhooks-api.ts';

/** Programs that are told what happens. */
export function WebhooksSection() {
  const words = useFeatureStrings(webhooksStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const webhooks = useQuery(webhooksQuery(client));
  const [isAdding, setAdding] = useState(useDraft('webhooks.add', EMPTY_WEBHOOK).isChanged);
  const [made, setMade] = useState<CreatedWebhook | null>(null);
  return (
    <Part
      title={words.title}
      text={words.text}
      actions={!isAdding && <Button onClick={() => setAdding(true)}>{words.add}</Button>}
    >
      {isAdding && (
        <WebhookForm
          draftName="webhooks.add"
          saved={EMPTY_WEBHOOK}
          label={words.make}
          failed={words.notMade}
          onSave={async (key, fields) => {
            setMade(await createWebhook(client, fields, key));
            await queries.invalidateQueries({ queryKey: webhooksQuery(client).queryKey });
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {made !== null && <ShownOnce title={words.made} secret={made.secret} onClose={() => setMade(null)} />}
      <Loaded query={webhooks}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-muted">{words.empty}</p>
          ) : (
            <ul className="grid gap-2">
              {items.map((one) => (
                <WebhookRow key={one.id} webhook={one} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Part>
  );
}
