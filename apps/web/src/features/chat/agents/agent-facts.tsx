import { Details } from '../../../components/details.tsx';
import { Elapsed } from '../../../components/elapsed.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { describeObject, nameTool } from '../model/describe-tool.ts';
import { formatDuration } from '../model/format.ts';
import type { AgentView } from '../model/agents-item.ts';
import { groupStrings } from './strings.ts';

/** The rest of a row's second line: where it works and how its VM came, then what it is at or what it came to. */
export function AgentWork({ agent }: { agent: AgentView }) {
  const strings = useFeatureStrings(groupStrings);
  const { tool, tier, vm, degraded } = agent;
  const place = tier === null || degraded !== null ? [] : [strings.tiers[tier]];
  const facts = [...place, ...(vm === null ? [] : [describeVm(vm, strings)])].join(', ');
  return (
    <>
      {facts !== '' && <span className="tabular shrink-0 text-muted">· {facts}</span>}
      {tool !== null ? <Tool tool={tool} /> : <Outcome agent={agent} />}
    </>
  );
}

function describeVm(vm: NonNullable<AgentView['vm']>, strings: (typeof groupStrings)['en']): string {
  if (vm.from === 'session') return strings.vm.shared;
  const isRestored =
    vm.from === undefined ? vm.restored : vm.from === 'user-snapshot' || vm.from === 'base-snapshot';
  return strings.vm[isRestored ? 'restored' : 'booted'](formatDuration(vm.acquireTimeMs));
}

function Tool({ tool }: { tool: NonNullable<AgentView['tool']> }) {
  const strings = useFeatureStrings(groupStrings);
  const verbs = useStrings().tool.verbs;
  return (
    <span className="flex min-w-0 flex-1 max-sm:basis-full">
      <span className="min-w-0 truncate text-muted" dir="auto">
        <Dot />
        {nameTool(tool.name, verbs)} <span className="mono text-ink">{describeObject(tool.detail)}</span>
      </span>
      <span className="ms-auto shrink-0 ps-2 text-muted">
        <Elapsed since={tool.since} label={strings.toolFor} />
      </span>
    </span>
  );
}

/** Between what stands in one line; on a phone this is a line of its own. */
function Dot() {
  return <span className="max-sm:hidden">· </span>;
}

function Outcome({ agent: { state, outcome } }: { agent: AgentView }) {
  const strings = useFeatureStrings(groupStrings);
  if (state === 'running') {
    return (
      <span className="min-w-0 flex-1 truncate text-muted max-sm:basis-full">
        <Dot />
        {strings.thinking}
      </span>
    );
  }
  const line = describeObject(outcome);
  // What it failed of is below, whole.
  if (line === '' || state === 'failed' || state === 'timeout') return null;
  return (
    <span className="min-w-0 flex-1 truncate text-muted max-sm:basis-full" dir="auto" title={line}>
      <Dot />
      {line}
    </span>
  );
}

/** Below the two lines: what is not as it was asked for, and what it failed of. */
export function AgentNotes({ agent }: { agent: AgentView }) {
  const strings = useFeatureStrings(groupStrings);
  const { degraded, withheld, state, outcome } = agent;
  const places: Record<string, string> = useStrings().tool.ranOn;
  return (
    <>
      {degraded !== null && (
        <p className="mt-0.5 flex gap-1.5 text-sm text-amber [overflow-wrap:anywhere]" dir="auto">
          <Icon name="warning" className="mt-0.5" />
          <span className="min-w-0">
            {strings.degraded(places[degraded.fallbackTier] ?? degraded.fallbackTier)}{' '}
            {degraded.reason.toWellFormed()}
          </span>
        </p>
      )}
      {(state === 'failed' || state === 'timeout') && outcome !== '' && (
        <p className="mt-0.5 line-clamp-3 text-sm text-red [overflow-wrap:anywhere]" dir="auto">
          {outcome.toWellFormed()}
        </p>
      )}
      {withheld.length > 0 && (
        <Details name="withheld" summary={strings.withheld(withheld.length)}>
          <ul className="text-sm [overflow-wrap:anywhere]">
            {withheld.map(({ tool, reason }) => (
              <li key={tool}>
                <span className="mono">{tool}</span>{' '}
                <span className="text-muted">{reason.toWellFormed()}</span>
              </li>
            ))}
          </ul>
        </Details>
      )}
    </>
  );
}
