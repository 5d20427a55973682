import type { ComponentStatus, SystemStatus } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { CodeWords } from '../../components/code-words.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Section } from '../../components/section.tsx';
import { useFeatureStrings } from '../../i18n/define-strings.ts';
import { systemStrings } from './strings.ts';

const LOOKS: Record<ComponentStatus['state'], { icon: IconName; className: string }> = {
  ok: { icon: 'check', className: 'text-green' },
  degraded: { icon: 'warning', className: 'text-amber' },
  missing: { icon: 'warning', className: 'text-amber' },
  down: { icon: 'close', className: 'text-red' },
};

/** Each part with a word for its state; what is limited says why and what to do. */
export function PartList({ status }: { status: SystemStatus }) {
  const strings = useFeatureStrings(systemStrings);
  const troubled = status.components.filter((part) => part.state !== 'ok').length;
  return (
    <Section title={strings.parts}>
      <p role="status" className={troubled === 0 ? 'text-muted' : 'text-amber'}>
        {troubled === 0 ? strings.allWell : strings.attention(troubled)}
      </p>
      <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
        {status.components.map((part) => (
          <Part key={part.name} part={part} status={status} />
        ))}
      </ul>
    </Section>
  );
}

function Part({ part, status }: { part: ComponentStatus; status: SystemStatus }) {
  const strings = useFeatureStrings(systemStrings);
  const look = LOOKS[part.state];
  const known = describePart(part, status, strings);
  const hint = strings.hints[`${part.name}.${part.state}`] ?? part.hint;
  return (
    <li className="tabular grid content-start gap-1 rounded-lg border border-line bg-surface p-3">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium">{strings.names[part.name] ?? part.name}</h3>
        <span className={`inline-flex items-center gap-1 font-medium ${look.className}`}>
          <Icon name={look.icon} />
          {strings.states[part.state]}
        </span>
      </div>
      <p className="[overflow-wrap:anywhere] text-muted" {...(known === null ? { lang: 'en' } : {})}>
        {known ?? part.detail}
      </p>
      {part.state !== 'ok' && hint !== undefined && (
        <p className="[overflow-wrap:anywhere]">
          <CodeWords text={hint} />
        </p>
      )}
      {part.name === 'model' && part.state !== 'ok' && (
        <Link
          to="/vitto/settings/{-$section}"
          params={{ section: 'models' }}
          className="justify-self-start text-accent underline underline-offset-2"
        >
          {strings.toSettings}
        </Link>
      )}
    </li>
  );
}

/** What the figures say, in the person's language; `null` where only the server's own words do. */
function describePart(
  part: ComponentStatus,
  { database, queue, processes }: SystemStatus,
  strings: (typeof systemStrings)['en'],
): string | null {
  if (part.name === 'database')
    return strings.databaseDetail(database.version, `${database.roundTripMs.toFixed(1)} ms`);
  if (part.name === 'queue') return strings.queueDetail(queue.queued, queue.running);
  if (part.name === 'workers') {
    const workers = processes.filter((process) => process.roles.includes('worker'));
    const alive = workers.filter((process) => process.isAlive).length;
    return strings.workersDetail(alive, workers.length - alive);
  }
  return strings.details[`${part.name}.${part.state}`] ?? null;
}
