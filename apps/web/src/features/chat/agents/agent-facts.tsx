import { Details } from '../../../components/details.tsx';
import { Elapsed } from '../../../components/elapsed.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { describeObject, nameTool } from '../model/describe-tool.ts';
import { formatDuration } from '../model/format.ts';
import type { AgentView } from '../model/agents-item.ts';
import { groupStrings } from './strings.ts';

/** Where it works, and how its VM came. */
export function AgentPlace({ agent: { tier, vm, degraded } }: { agent: AgentView }) {
  const strings = useFeatureStrings(groupStrings);
  const place = tier === null || degraded !== null ? [] : [strings.tiers[tier]];
  const facts = [...place, ...(vm === null ? [] : [describeVm(vm, strings)])].join(', ');
  return facts === '' ? null : <span className="tabular min-w-0 truncate text-muted">· {facts}</span>;
}

/** What it is at, or what it came to: on a phone a line of its own, which is there from the beginning. */
export function AgentWork({ agent }: { agent: AgentView }) {
  // What it failed of is below, in the place of this line.
  if (hasFailed(agent)) return null;
  return (
    <p className="flex h-5.5 min-w-0 flex-1 items-center text-muted max-sm:flex-none">
      {agent.tool === null ? <Outcome agent={agent} /> : <Tool tool={agent.tool} />}
    </p>
  );
}

function hasFailed({ state, outcome }: AgentView): boolean {
  return (state === 'failed' || state === 'timeout') && outcome !== '';
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
    <>
      <span className="min-w-0 truncate" dir="auto">
        <Dot />
        {nameTool(tool.name, verbs)} <span className="mono text-ink">{describeObject(tool.detail)}</span>
      </span>
      <span className="ms-auto shrink-0 ps-2">
        <Elapsed since={tool.since} label={strings.toolFor} />
      </span>
    </>
  );
}

function Outcome({ agent: { state, outcome } }: { agent: AgentView }) {
  const strings = useFeatureStrings(groupStrings);
  const line = state === 'running' ? strings.thinking : describeObject(dropMarks(outcome));
  if (line === '' || state === 'cancelled') return null;
  return (
    <span className="min-w-0 truncate" dir="auto" title={state === 'running' ? undefined : line}>
      <Dot />
      {line}
    </span>
  );
}

/** A report is Markdown, and its first line stands here as plain text. */
function dropMarks(text: string): string {
  return text
    .slice(0, 2_000)
    .replaceAll(/\*\*|`/gu, '')
    .replace(/^[#>\s-]+/u, '');
}

/** Between what stands in one line. */
function Dot() {
  return <span className="max-sm:hidden">· </span>;
}

/** Below the two lines: what is not as it was asked for, and what it failed of. */
export function AgentNotes({ agent }: { agent: AgentView }) {
  const strings = useFeatureStrings(groupStrings);
  const { degraded, withheld, outcome } = agent;
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
      {hasFailed(agent) && (
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
