import type { PushSubscription } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { ConfirmInPlace } from '../../../components/confirm-in-place.tsx';
import { Moment } from '../../../components/moment.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { forget, sendTest } from '../../notices/browser-notices.ts';
import { ActionFailure, Card } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { notificationsStrings } from './strings.ts';

/** A browser that is called. */
export function BrowserRow({ browser }: { browser: PushSubscription }) {
  const words = useFeatureStrings(notificationsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const test = useAction(() => sendTest(client, browser.id));
  const remove = useAction(async () => {
    await forget(client, browser.id);
    await queries.invalidateQueries({ queryKey: ['push-subscriptions'] });
  });
  return (
    <Card label={browser.browser}>
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1 font-medium">{browser.browser.toWellFormed()}</span>
        <Button aria-disabled={test.isBusy} onClick={() => void test.run()}>
          {words.test}
        </Button>
        <ConfirmInPlace
          label={words.forget}
          name={words.forgetName(browser.browser)}
          question={words.question}
          isBusy={remove.isBusy}
          onConfirm={() => void remove.run()}
        />
      </div>
      <p className="text-muted">
        {browser.service} · {words.since} <Moment at={browser.createdAt} />
        {browser.lastSentAt !== null && (
          <>
            {' '}
            · {words.lastSent} <Moment at={browser.lastSentAt} />
          </>
        )}
      </p>
      <p role="status" className="text-green empty:hidden">
        {test.isDone ? words.sent : ''}
      </p>
      <ActionFailure title={words.notSent} error={test.error ?? remove.error} />
    </Card>
  );
}
