import type { AuditVerification } from '@vitto/contracts';
import { toApiError } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { CodeWords } from '../../components/code-words.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Icon } from '../../components/icon.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { ShortHash } from './short-hash.tsx';
import { auditStrings } from './strings.ts';
import type { Verification } from './use-verification.ts';

export function VerifyButton({ verification }: { verification: Verification }) {
  const strings = useFeatureStrings(auditStrings);
  return (
    <Button disabled={verification.isPending} onClick={() => verification.mutate()}>
      <Icon name="shield" />
      {verification.isPending ? strings.verifying : strings.verify}
    </Button>
  );
}

/** What verifying has found, in words. */
export function VerifyOutcome({ verification }: { verification: Verification }) {
  const strings = useFeatureStrings(auditStrings);
  if (verification.isError)
    return <FailureNote title={strings.verifyFailed} error={toApiError(verification.error)} />;
  if (verification.data === undefined) return null;
  return verification.data.isIntact ? (
    <Intact found={verification.data} />
  ) : (
    <Broken found={verification.data} />
  );
}

function Intact({ found }: { found: AuditVerification }) {
  const strings = useFeatureStrings(auditStrings);
  const [before = '', after = ''] = strings.lastHash('\n').split('\n');
  return (
    <div role="status" className="appear flex gap-2.5 rounded-lg border border-line bg-surface px-3 py-2.5">
      <Icon name="check" className="mt-0.5 text-green" />
      <div className="min-w-0">
        <p className="font-medium text-green">{strings.intact(found.entries)}</p>
        {found.lastHash !== null && (
          <p className="text-muted">
            {before}
            <ShortHash hash={found.lastHash} isWhole />
            {after}
          </p>
        )}
      </div>
    </div>
  );
}

function Broken({ found }: { found: AuditVerification }) {
  const strings = useFeatureStrings(auditStrings);
  return (
    <div
      role="alert"
      className="appear flex gap-2.5 rounded-lg border border-red-line bg-red-soft px-3 py-2.5"
    >
      <Icon name="warning" className="mt-0.5 text-red" />
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p>
          <strong className="font-semibold text-red">{strings.broken(found.brokenAt ?? 0)}</strong>{' '}
          {found.reason !== null && strings.reasons[found.reason]}
        </p>
        <p className="text-muted">
          <CodeWords text={strings.brokenHint} />
        </p>
      </div>
    </div>
  );
}
