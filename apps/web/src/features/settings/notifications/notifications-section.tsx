import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiClient } from '../../../api/client.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import {
  areNoticesWanted,
  isSubscribed,
  readPermission,
  readSetup,
  switchOff,
  switchOn,
} from '../../notices/browser-notices.ts';
import { ActionFailure, Loaded, Part } from '../parts.tsx';
import { useAction } from '../use-action.ts';
import { BrowserRow } from './browser-row.tsx';
import { notificationsStrings } from './strings.ts';

export function browsersQuery(client: ApiClient) {
  return queryOptions({ queryKey: ['push-subscriptions'], queryFn: () => readSetup(client) });
}

/** Being called in this browser, and the others that are. */
export function NotificationsSection() {
  const words = useFeatureStrings(notificationsStrings);
  const { client } = useVitto();
  const browsers = useQuery(browsersQuery(client));
  return (
    <>
      <Part title={words.title} text={words.text} />
      <ThisBrowser />
      <Part title={words.all} text={words.allText}>
        <Loaded query={browsers}>
          {({ items }) =>
            items.length === 0 ? (
              <p className="text-muted">{words.none}</p>
            ) : (
              <ul className="grid gap-2">
                {items.map((one) => (
                  <BrowserRow key={one.id} browser={one} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Part>
    </>
  );
}

type HereState = 'missing' | 'denied' | 'off' | 'push' | 'page';

function readHere(): HereState {
  const permission = readPermission();
  if (permission === 'missing' || permission === 'denied') return permission;
  if (!areNoticesWanted()) return 'off';
  return isSubscribed() ? 'push' : 'page';
}

function ThisBrowser() {
  const words = useFeatureStrings(notificationsStrings);
  const { client } = useVitto();
  const queries = useQueryClient();
  const [here, setHere] = useState(readHere);
  const isOn = here === 'push' || here === 'page';
  const change = useAction(async () => {
    try {
      await (isOn ? switchOff(client) : switchOn(client));
    } finally {
      setHere(readHere());
      await queries.invalidateQueries({ queryKey: browsersQuery(client).queryKey });
    }
  });
  return (
    <Part title={words.here}>
      <p role="status">{words[here]}</p>
      {here !== 'missing' && here !== 'denied' && (
        <Button
          look={isOn ? 'plain' : 'primary'}
          className="justify-self-start"
          aria-disabled={change.isBusy}
          onClick={() => void change.run()}
        >
          {change.isBusy ? words.working : isOn ? words.switchOff : words.switchOn}
        </Button>
      )}
      <ActionFailure title={words.failed} error={change.error} />
    </Part>
  );
}
