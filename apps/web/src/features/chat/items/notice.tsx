import type { KnownEvent } from '@vitto/contracts';
import type { ReactNode } from 'react';
import { Details } from '../../../components/details.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useLanguage, useStrings, type Language } from '../../../i18n/strings-context.tsx';
import type { Strings } from '../../../i18n/strings.en.ts';
import { formatCost, formatCount, formatDuration } from '../model/format.ts';
import { RawEvent } from './raw-event.tsx';

type Budget = Extract<KnownEvent, { type: 'budget.exceeded' }>;

/** Something to know of: amber where it changes what to expect, quiet else. */
export function Notice({ event }: { event: KnownEvent }) {
  const strings = useStrings();
  const language = useLanguage();
  const words = strings.notice;
  switch (event.type) {
    case 'vm.degraded':
      return (
        <Strip reason={event.payload.reason}>
          {words.degraded(placeOf(event.payload.fallbackTier, strings))}
        </Strip>
      );
    case 'vm.waiting':
      return (
        <Quiet>{strings.vm.waiting(event.payload.reason.toWellFormed(), String(event.payload.place))}</Quiet>
      );
    case 'vm.acquired':
      return <Acquired event={event} />;
    case 'vm.released':
      return <Quiet more={event.payload.reason ?? ''}>{strings.vm.putAside}</Quiet>;
    case 'vm.lost':
      return <Strip reason={event.payload.reason ?? ''}>{words.vmLost}</Strip>;
    case 'budget.exceeded':
      return <Strip reason="">{describeBudget(event, strings, language)}</Strip>;
    case 'task.stuck':
      return (
        <Strip reason={event.payload.note}>
          {event.payload.action === 'failed' ? words.stuckFailed : words.stuckNudged}
          <Tried tried={event.payload.tried} title={words.tried} />
        </Strip>
      );
    case 'model.fallback':
      return (
        <Strip reason={event.payload.reason}>{words.fallback(event.payload.from, event.payload.to)}</Strip>
      );
    case 'gate.evaluated':
      return (
        <Strip reason={event.payload.reason}>
          {event.payload.decision === 'wait' ? words.gateWait : words.gateSuggest}
        </Strip>
      );
    case 'phase.completed':
      return <Quiet>{words.compacted}</Quiet>;
    default:
      return <RawEvent type={event.type} payload={event.payload} />;
  }
}

/** How a task's VM came, in one line; what is not as the user expects of it stands below. */
function Acquired({ event }: { event: Extract<KnownEvent, { type: 'vm.acquired' }> }) {
  const strings = useStrings();
  const { from, acquireTimeMs, host, template, notices = [] } = event.payload;
  const facts = [
    from === undefined ? strings.vm.ready : `${strings.vm.ready}: ${strings.vm.from[from]}`,
    ...(acquireTimeMs === undefined ? [] : [formatDuration(acquireTimeMs)]),
    ...(template === undefined ? [] : [template]),
    ...(host === undefined ? [] : [strings.vm.onHost(host)]),
  ];
  return (
    <div className="text-sm text-muted [overflow-wrap:anywhere]">
      <p>{facts.join(' · ')}</p>
      {notices.map((notice) => (
        <p key={notice} className="text-amber" dir="auto">
          {notice.toWellFormed()}
        </p>
      ))}
    </div>
  );
}

function Strip({ reason, children }: { reason: string; children: ReactNode }) {
  return (
    <div className="appear flex gap-2.5 rounded-lg border border-amber-line bg-amber-soft px-3 py-2">
      <Icon name="warning" className="mt-0.5 text-amber" />
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <div className="font-medium text-amber">{children}</div>
        {reason !== '' && <p dir="auto">{reason.toWellFormed()}</p>}
      </div>
    </div>
  );
}

function Quiet({ children, more }: { children: ReactNode; more?: string }) {
  const strings = useStrings();
  return (
    <div className="text-sm text-muted [overflow-wrap:anywhere]">
      {children}
      {more !== undefined && more !== '' && (
        <div>
          <Details summary={strings.notice.details}>
            <p className="whitespace-pre-wrap" dir="auto">
              {more.toWellFormed()}
            </p>
          </Details>
        </div>
      )}
    </div>
  );
}

function Tried({ tried, title }: { tried: readonly string[]; title: string }) {
  if (tried.length === 0) return null;
  return (
    <div>
      <Details summary={title}>
        <ul className="mono list-disc ps-4 font-normal text-ink">
          {tried.map((one, index) => (
            <li key={index}>{one.toWellFormed()}</li>
          ))}
        </ul>
      </Details>
    </div>
  );
}

function placeOf(tier: string, strings: Strings): string {
  const places: Record<string, string> = strings.tool.ranOn;
  return places[tier] ?? tier;
}

function describeBudget(event: Budget, strings: Strings, language: Language): string {
  const { budget, spent, limit } = event.payload;
  const show = {
    iterations: String,
    tokens: (value: number) => formatCount(value, language),
    cost: (value: number) => formatCost(value, strings.end.costUnknown, language),
    duration: formatDuration,
  }[budget];
  return strings.notice.budgetExceeded(strings.notice.budget[budget], show(spent), show(limit));
}
