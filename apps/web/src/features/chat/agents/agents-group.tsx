import { useId, useLayoutEffect, useRef } from 'react';
import { ArtifactLinks } from '../../../components/artifact-links.tsx';
import { Elapsed } from '../../../components/elapsed.tsx';
import { Icon } from '../../../components/icon.tsx';
import { KeptPart, useKept } from '../../../components/kept-state.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { countStates, hasEnded, windowHeight, type AgentsItem } from '../model/agents-item.ts';
import { describeObject } from '../model/describe-tool.ts';
import { formatDuration } from '../model/format.ts';
import { AgentRow } from './agent-row.tsx';
import { groupStrings } from './strings.ts';

/** The sub-Vittos of a round: how many are where in one line, which opens to a row each. */
export function AgentsGroup({ item }: { item: AgentsItem }) {
  const strings = useFeatureStrings(groupStrings);
  // What is open stays open at the end: the thread does not jump under who reads it.
  const [isOpen, setOpen] = useKept('group', item.stage !== 'done');
  const id = useId();
  return (
    <section
      className="appear min-w-0 rounded-lg border border-line bg-surface"
      aria-labelledby={`${id}-title`}
    >
      <button
        type="button"
        data-state={isOpen ? 'open' : 'closed'}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="group flex min-h-14 w-full min-w-0 items-center gap-2.5 rounded-lg px-3 py-1.5 text-start hover:bg-sunken"
      >
        <Icon name="agents" className="text-muted" />
        <span className="min-w-0 flex-1">
          <span id={`${id}-title`} className="tabular block truncate font-medium max-sm:whitespace-normal">
            {describeGroup(item, strings)}
          </span>
          <Standing item={item} />
        </span>
        <Time item={item} />
        <Icon
          name="chevron"
          className="size-3.5 text-muted transition-transform group-data-[state=open]:rotate-90"
        />
      </button>
      {isOpen && (
        <div id={id} className="border-t border-line">
          <Content item={item} />
        </div>
      )}
    </section>
  );
}

function Content({ item }: { item: AgentsItem }) {
  const strings = useFeatureStrings(groupStrings);
  return (
    <>
      <AgentList item={item} />
      <Results item={item} />
      {item.synthesis !== null && (
        <div className="border-t border-line px-3 py-2">
          <p className="line-clamp-3 text-muted [overflow-wrap:anywhere]" dir="auto">
            {strings.synthesis} {describeObject(item.synthesis)}
          </p>
        </div>
      )}
      {item.trouble !== null && (
        <p className="border-t border-line px-3 py-2 text-red [overflow-wrap:anywhere]" dir="auto">
          {strings.trouble} {item.trouble.toWellFormed()}
        </p>
      )}
    </>
  );
}

/** What came with the results: files, and where they hold text from outside. */
function Results({ item: { artifacts, untrusted } }: { item: AgentsItem }) {
  const words = useStrings().tool;
  if (artifacts.length === 0 && untrusted === null) return null;
  return (
    <div className="grid gap-1 border-t border-line px-3 py-2">
      {untrusted !== null && (
        <p className="text-amber [overflow-wrap:anywhere]">{words.untrusted(untrusted.toWellFormed())}</p>
      )}
      {artifacts.length > 0 && <ArtifactLinks artifacts={artifacts} />}
    </div>
  );
}

type Words = (typeof groupStrings)['en'];

function describeGroup({ agents, round, stage }: AgentsItem, strings: Words): string {
  if (stage === 'running') return round === null ? strings.partial : strings.deploying(agents.length);
  return strings.ended(agents.length, listCounts(agents, strings).join(', '));
}

function listCounts(agents: AgentsItem['agents'], strings: Words): string[] {
  const counts = countStates(agents);
  return (Object.keys(strings.counts) as (keyof Words['counts'])[]).flatMap((state) => {
    const count = counts.get(state);
    return count === undefined ? [] : [strings.counts[state](count)];
  });
}

/** The second line: the round, and who is where, or that the results are being put together. */
function Standing({ item }: { item: AgentsItem }) {
  const strings = useFeatureStrings(groupStrings);
  const { round, maxRounds, stage, agents } = item;
  const facts = [
    ...(round === null ? [] : [strings.round(round, maxRounds)]),
    ...(stage === 'running' ? listCounts(agents, strings) : []),
  ];
  return (
    <span className="tabular block truncate text-sm text-muted max-sm:min-h-10 max-sm:whitespace-normal">
      {facts.join(' · ')}
      {stage === 'synthesizing' && (
        <span className="text-accent">
          {facts.length > 0 && ' · '}
          {strings.synthesizing}
        </span>
      )}
    </span>
  );
}

function Time({ item: { startedAt, endedAt } }: { item: AgentsItem }) {
  const strings = useFeatureStrings(groupStrings);
  if (startedAt === null) return null;
  return (
    <span className="tabular shrink-0 text-end text-muted">
      {endedAt === null ? (
        <Elapsed since={startedAt} label={strings.elapsed} />
      ) : (
        <>
          <span className="sr-only">{strings.took} </span>
          {formatDuration(Date.parse(endedAt) - Date.parse(startedAt))}
        </>
      )}
    </span>
  );
}

/** All rows in a window of a bounded height: a hundred of them do not push the answer away. */
function AgentList({ item: { agents } }: { item: AgentsItem }) {
  const strings = useFeatureStrings(groupStrings);
  const list = useRef<HTMLUListElement>(null);
  const ended = new Set(agents.filter(hasEnded).map(({ id }) => id));
  useShowFirstOpen(list, ended.size);
  return (
    <ul
      ref={list}
      role="list"
      aria-label={strings.list}
      className="relative divide-y divide-line overflow-y-auto"
      style={{ maxHeight: windowHeight(agents.length) ?? undefined }}
    >
      {agents.map((agent) => (
        <KeptPart key={agent.id} name={agent.id}>
          <AgentRow agent={agent} waitsFor={agent.dependsOn.filter((id) => !ended.has(id)).length} />
        </KeptPart>
      ))}
    </ul>
  );
}

/** Where a long list opens: at the first one that has not ended. */
function useShowFirstOpen(list: React.RefObject<HTMLUListElement | null>, ended: number): void {
  const first = useRef(ended);
  useLayoutEffect(() => {
    const element = list.current;
    const row = element?.querySelector<HTMLElement>(':scope > [data-open]');
    if (element && row && first.current > 0) element.scrollTop = row.offsetTop;
  }, [list]);
}
