import type { AuditEntry } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { Details } from '../../components/details.tsx';
import { ExactText } from '../../components/exact-text.tsx';
import { Moment } from '../../components/moment.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { ShortHash } from './short-hash.tsx';
import { auditStrings } from './strings.ts';

const BAD = new Set(['sign-in.failed', 'access.refused']);

/** One act: what, by whom, on what, when; the rest of it opens. */
export function AuditRow({ entry }: { entry: AuditEntry }) {
  const strings = useFeatureStrings(auditStrings);
  const said = strings.actions[entry.action];
  return (
    <li className="grid gap-x-4 gap-y-1 border-b border-line px-3 py-2 last:border-b-0 md:grid-cols-[minmax(0,3fr)_minmax(0,2fr)_auto]">
      <div className="min-w-0">
        <p className="[overflow-wrap:anywhere]">
          <span className={`font-medium ${BAD.has(entry.action) ? 'text-amber' : ''}`}>
            {said ?? entry.action}
          </span>{' '}
          <EntryObject entry={entry} />
        </p>
      </div>
      <p className="min-w-0 text-muted [overflow-wrap:anywhere]">
        <span className="text-ink" dir="auto">
          {entry.actorName?.toWellFormed() ?? (entry.actorId === null ? strings.nobody : strings.gone)}
        </span>
        , {strings.doors[entry.via] ?? entry.via}
      </p>
      <p className="tabular text-muted md:text-end">
        <Moment at={entry.at} />
        <span className="ms-3">#{entry.seq}</span> <ShortHash hash={entry.hash} />
      </p>
      <div className="md:col-span-3">
        <Details
          summary={
            <>
              {strings.facts} <span className="sr-only">{strings.details(entry.seq)}</span>
            </>
          }
        >
          <EntryFacts entry={entry} />
        </Details>
      </div>
    </li>
  );
}

function EntryObject({ entry }: { entry: AuditEntry }) {
  const { objectType, objectId } = entry;
  if (objectId === null || objectType === null) return null;
  const short = objectId.length === 36 ? objectId.slice(-8) : objectId;
  const looks = 'mono text-accent underline underline-offset-2';
  if (objectType === 'task') {
    return (
      <Link to="/vitto/t/$taskId" params={{ taskId: objectId }} className={looks}>
        {short}
      </Link>
    );
  }
  if (objectType === 'conversation' && entry.action !== 'conversation.deleted') {
    return (
      <Link to="/vitto/c/$conversationId" params={{ conversationId: objectId }} className={looks}>
        {short}
      </Link>
    );
  }
  return (
    <span className="mono" title={objectId}>
      {short}
    </span>
  );
}

function EntryFacts({ entry }: { entry: AuditEntry }) {
  const strings = useFeatureStrings(auditStrings);
  const facts: [string, string][] = [
    [strings.action, entry.action],
    [strings.address, entry.address ?? ''],
    [strings.object, [entry.objectType, entry.objectId].filter((part) => part !== null).join(' ')],
    [strings.hash, entry.hash],
    ...Object.entries(entry.detail).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ];
  return (
    <dl className="mono grid gap-x-4 sm:grid-cols-[auto_minmax(0,1fr)]">
      {facts
        .filter(([, value]) => value !== '')
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="[overflow-wrap:anywhere]">
              <ExactText text={value} />
            </dd>
          </div>
        ))}
    </dl>
  );
}
