import { readKnownEvent, type KnownEvent } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useLanguage, useStrings } from '../../../i18n/strings-context.tsx';
import { formatCost } from '../../chat/model/format.ts';
import type { Step } from '../model/step.ts';
import { taskStrings } from '../strings.ts';
import { Fact } from './fact.tsx';

type Of<T extends KnownEvent['type']> = Extract<KnownEvent, { type: T }>;

/** What a sub-Vitto was told, with what it had to do without, what it came to, and the way to its own timeline. */
export function AgentDetail({ step }: { step: Step }) {
  const { agent } = useFeatureStrings(taskStrings);
  const known = step.events.flatMap((event) => readKnownEvent(event) ?? []);
  const spawned = find(known, 'subvitto.spawned');
  const done = find(known, 'subvitto.completed');
  const failed = find(known, 'subvitto.failed');
  const degraded = find(known, 'subvitto.vm_degraded');
  const withheld = spawned?.payload.withheld ?? [];
  const id = step.events[0]?.payload['id'];
  return (
    <>
      <AgentFacts spawned={spawned} ended={done ?? failed} />
      {typeof id === 'string' && (
        <Link
          to="/vitto/t/$taskId"
          params={{ taskId: id }}
          preload={false}
          className="w-fit text-accent underline underline-offset-4"
        >
          {agent.open}
        </Link>
      )}
      {degraded !== undefined && (
        <p className="text-amber">
          {agent.degraded}: {degraded.payload.reason.toWellFormed()}
        </p>
      )}
      {spawned !== undefined && <Words name={agent.description} text={spawned.payload.description} />}
      {withheld.length > 0 && (
        <div>
          <h3 className="text-xs text-muted">{agent.withheld}</h3>
          <ul>
            {withheld.map(({ tool, reason }) => (
              <li key={tool} className="[overflow-wrap:anywhere]">
                <span className="mono">{tool.toWellFormed()}</span>: {reason.toWellFormed()}
              </li>
            ))}
          </ul>
        </div>
      )}
      {done !== undefined && <Words name={agent.result} text={done.payload.result} />}
      {failed !== undefined && (
        <p className="text-red [overflow-wrap:anywhere]">{failed.payload.error.toWellFormed()}</p>
      )}
    </>
  );
}

function AgentFacts(props: {
  spawned: Of<'subvitto.spawned'> | undefined;
  ended: Of<'subvitto.completed' | 'subvitto.failed'> | undefined;
}) {
  const { agent, tiers } = useFeatureStrings(taskStrings);
  const shared = useStrings();
  const language = useLanguage();
  const { spawned, ended } = props;
  const used = ended?.payload.toolsUsed ?? [];
  const cost = ended?.payload.cost;
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
      {spawned !== undefined && <Fact name={agent.where}>{tiers[spawned.payload.tier]}</Fact>}
      {spawned?.payload.round !== undefined && <Fact name={agent.round}>{spawned.payload.round}</Fact>}
      {used.length > 0 && <Fact name={agent.used}>{used.join(', ').toWellFormed()}</Fact>}
      {cost !== undefined && (
        <Fact name={agent.cost}>{formatCost(cost, shared.end.costUnknown, language)}</Fact>
      )}
    </dl>
  );
}

function Words({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <h3 className="text-xs text-muted">{name}</h3>
      <p
        className="max-h-72 overflow-y-auto [overflow-wrap:anywhere] whitespace-pre-wrap"
        dir="auto"
        tabIndex={0}
      >
        {text.toWellFormed()}
      </p>
    </div>
  );
}

function find<T extends KnownEvent['type']>(known: readonly KnownEvent[], type: T): Of<T> | undefined {
  return known.find((event): event is Of<T> => event.type === type);
}
