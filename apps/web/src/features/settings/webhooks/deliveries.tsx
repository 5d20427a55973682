import type { WebhookDelivery } from '@vitto/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { Moment } from '../../../components/moment.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { ActionFailure, Loaded, StateWord } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { webhooksStrings } from './strings.ts';
import { deliveriesQuery, retryDelivery } from './webhooks-api.ts';

const TONES = { pending: 'ask', delivered: 'good', failed: 'bad' } as const;

/** What became of the last messages to one webhook. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const words = useFeatureStrings(webhooksStrings);
  const { client } = useVitto();
  const deliveries = useQuery(deliveriesQuery(client, webhookId));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <Loaded query={deliveries}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-muted">{words.noDeliveries}</p>
          ) : (
            <ul className="grid grid-cols-[minmax(0,1fr)] gap-px">
              {items.map((one) => (
                <Delivery key={one.id} delivery={one} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <Button className="justify-self-start" onClick={() => void deliveries.refetch()}>
        {words.refresh}
      </Button>
    </div>
  );
}

function Delivery({ delivery }: { delivery: WebhookDelivery }) {
  const words = useFeatureStrings(webhooksStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const retry = useAction(async () => {
    await retryDelivery(client, delivery);
    await queries.invalidateQueries({ queryKey: deliveriesQuery(client, delivery.webhookId).queryKey });
  });
  return (
    <li className="grid gap-1 border-t border-line py-1.5">
      <div className="flex flex-wrap items-center gap-2">
        <StateWord tone={TONES[delivery.state]}>{words.state[delivery.state]}</StateWord>
        <code className="mono min-w-0 flex-1">{delivery.event}</code>
        <span className="text-muted">
          {words.attempts(delivery.attempts)} · <Moment at={delivery.createdAt} />
        </span>
        {delivery.state === 'failed' && (
          <Button aria-disabled={retry.isBusy} onClick={() => void retry.run()}>
            {words.retry}
          </Button>
        )}
      </div>
      {delivery.lastError !== null && delivery.state !== 'delivered' && (
        <p className="text-muted">{delivery.lastError}</p>
      )}
      <ActionFailure title={words.notRetried} error={retry.error} />
    </li>
  );
}
