import { useSession } from '../../api/session.ts';
import { Page } from '../../components/page.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { AuditFilters } from './audit-filters.tsx';
import { AuditList } from './audit-list.tsx';
import { auditStrings } from './strings.ts';
import { VerifyButton, VerifyOutcome } from './verify.tsx';
import { useVerification } from './use-verification.ts';

/** Who did what: searched, page by page, and verified where it stands. */
export function AuditPage() {
  const strings = useFeatureStrings(auditStrings);
  const session = useSession();
  const role = session.data?.role;
  const seesAll = role === 'owner' || role === 'admin';
  const verification = useVerification();
  return (
    <Page title={strings.title} actions={seesAll && <VerifyButton verification={verification} />}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <p className="max-w-prose text-muted">{seesAll ? strings.intro : strings.introOwn}</p>
        <VerifyOutcome verification={verification} />
        <AuditFilters />
        <AuditList />
      </div>
    </Page>
  );
}
