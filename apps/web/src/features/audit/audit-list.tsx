import type { AuditEntry } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { toApiError } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { useStrings } from '../../i18n/strings-context.tsx';
import { AuditRow } from './audit-row.tsx';
import { auditStrings } from './strings.ts';
import { useAudit, useAuditFilter } from './use-audit.ts';

export function AuditList() {
  const strings = useFeatureStrings(auditStrings);
  const shared = useStrings();
  const filter = useAuditFilter();
  const audit = useAudit(filter);
  const entries = audit.data?.pages.flatMap((page) => page.items) ?? [];
  if (audit.isPending) return <Skeleton />;
  return (
    <>
      {audit.isError && (
        <FailureNote title={strings.failed} error={toApiError(audit.error)}>
          <Button onClick={() => void (entries.length > 0 ? audit.fetchNextPage() : audit.refetch())}>
            {shared.app.retry}
          </Button>
        </FailureNote>
      )}
      {audit.isSuccess && entries.length === 0 && <Nothing />}
      {entries.length > 0 && <Entries entries={entries} hasMore={audit.hasNextPage} />}
      {audit.hasNextPage && !audit.isError && (
        <More isLoading={audit.isFetchingNextPage} load={() => void audit.fetchNextPage()} />
      )}
    </>
  );
}

function Entries({ entries, hasMore }: { entries: readonly AuditEntry[]; hasMore: boolean }) {
  const strings = useFeatureStrings(auditStrings);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <p role="status" className="tabular text-muted">
        {strings.count(entries.length, hasMore)}
      </p>
      <ol className="rounded-lg border border-line bg-surface">
        {entries.map((entry) => (
          <AuditRow key={entry.seq} entry={entry} />
        ))}
      </ol>
    </div>
  );
}

function Nothing() {
  const strings = useFeatureStrings(auditStrings);
  const { text, action, from, to } = useAuditFilter();
  const isFiltered = [text, action, from, to].some((part) => part !== '');
  return (
    <div role="status" className="grid justify-items-center gap-2 py-10 text-center">
      <p className="text-base font-semibold">{isFiltered ? strings.noneFit : strings.emptyTitle}</p>
      {isFiltered ? (
        <Link to="/command/audit" className="text-accent underline underline-offset-2">
          {strings.clear}
        </Link>
      ) : (
        <p className="max-w-md text-balance text-muted">{strings.emptyHint}</p>
      )}
    </div>
  );
}

/** Loads the next page when it comes into sight, and for who presses it. */
function More({ isLoading, load }: { isLoading: boolean; load: () => void }) {
  const strings = useFeatureStrings(auditStrings);
  const button = useRef<HTMLButtonElement>(null);
  const onSight = useRef(load);
  useEffect(() => {
    onSight.current = load;
  });
  useEffect(() => {
    if (button.current === null || isLoading) return;
    const observer = new IntersectionObserver((seen) => {
      if (seen.some((entry) => entry.isIntersecting)) onSight.current();
    });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [isLoading]);
  return (
    <Button ref={button} className="justify-self-center" disabled={isLoading} onClick={load}>
      {isLoading ? strings.loadingMore : strings.more}
    </Button>
  );
}

function Skeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid gap-px" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      {Array.from({ length: 8 }, (_, i) => (
        <span key={i} className="h-12 bg-sunken first:rounded-t-lg last:rounded-b-lg" />
      ))}
    </div>
  );
}
