import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { areNoticesWanted, isSubscribed, openWorker } from './browser-notices.ts';
import { noticeOf } from './notice-of-event.ts';
import { noticeStrings } from './strings.ts';

/**
 * Tells of what happens while this page is open but not looked at, unless the server calls this browser itself; and
 * goes where a click on a notification leads. Several tabs say the same thing under one tag: it is seen once.
 */
export function PageNotices() {
  const strings = useFeatureStrings(noticeStrings);
  const { stream } = useVitto();
  const navigate = useNavigate();

  useEffect(() => {
    const children = new Set<string>();
    return stream.subscribe({
      onEvents: (events) => {
        for (const event of events) {
          if (event.type === 'subvitto.spawned') children.add(String(event.payload['id']));
          if (!document.hidden || !areNoticesWanted() || isSubscribed()) continue;
          const notice = noticeOf(event);
          // How a part of a task ended is its parent's to tell.
          if (notice === null || (children.has(event.taskId) && notice.kind !== 'approval')) continue;
          const { kind, body, path, tag } = notice;
          void openWorker().then((worker) =>
            worker.showNotification(strings[kind], { body, tag, icon: '/favicon.svg', data: { path } }),
          );
        }
      },
      onResync: () => {},
    });
  }, [stream, strings]);

  useEffect(() => {
    if (!('serviceWorker' in navigator)) return undefined;
    const onMessage = ({ data }: MessageEvent<{ kind?: unknown; path?: unknown } | null>) => {
      if (data?.kind === 'open' && typeof data.path === 'string' && data.path.startsWith('/vitto')) {
        void navigate({ to: data.path });
      }
    };
    navigator.serviceWorker.addEventListener('message', onMessage);
    return () => navigator.serviceWorker.removeEventListener('message', onMessage);
  }, [navigate]);
  return null;
}
