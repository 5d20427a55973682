import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useVitto } from '../../api/vitto-context.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { LiveColumns } from './live-columns.tsx';
import { LiveStore, type LiveState } from './live-store.ts';
import { groupLive } from './model/live-view.ts';
import { liveStrings } from './strings.ts';

/** Everybody at work side by side: what each does this very second, and the last of what it wrote. */
export function LivePage() {
  const strings = useFeatureStrings(liveStrings);
  const { client, stream } = useVitto();
  const [store] = useState(() => new LiveStore(client, stream));
  useEffect(() => store.open(), [store]);
  const state = useSyncExternalStore(store.subscribe, store.getState);
  const { tasks } = state.view.live;
  const groups = useMemo(() => groupLive(tasks), [tasks]);
  return (
    <Page title={strings.title} isWide>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-8">
        {groups.map((group) => (
          <LiveColumns key={group.rootId} group={group} view={state.view} onDismiss={store.dismiss} />
        ))}
      </div>
      <Rest state={state} isEmpty={groups.length === 0} onRetry={() => void store.load()} />
    </Page>
  );
}

function Rest({ state, isEmpty, onRetry }: { state: LiveState; isEmpty: boolean; onRetry: () => void }) {
  const strings = useFeatureStrings(liveStrings);
  const shared = useStrings();
  if (state.status === 'error') {
    return (
      <FailureNote title={strings.failed} error={state.error}>
        <Button onClick={onRetry}>{shared.app.retry}</Button>
      </FailureNote>
    );
  }
  if (state.status === 'loading') return isEmpty ? <Skeleton /> : null;
  if (!isEmpty) return null;
  return (
    <div className="grid justify-items-center gap-2 py-14 text-center">
      <Icon name="pulse" className="size-8 text-muted" />
      <p className="text-base font-semibold">{strings.empty}</p>
      <p className="max-w-md text-balance text-muted">{strings.emptyHint}</p>
      <Link to="/vitto" className="mt-2 text-accent underline underline-offset-4">
        {strings.start}
      </Link>
    </div>
  );
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-3 sm:grid-cols-[repeat(auto-fill,22rem)]" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      <span className="h-96 rounded-lg bg-sunken" />
      <span className="h-96 rounded-lg bg-sunken max-sm:hidden" />
    </div>
  );
}
