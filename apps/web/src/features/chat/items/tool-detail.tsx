import type { ReactNode } from 'react';
import { ArtifactLinks } from '../../../components/artifact-links.tsx';
import { Details } from '../../../components/details.tsx';
import { ExactText } from '../../../components/exact-text.tsx';
import { OutputBlock, TerminalBlock } from '../../../components/output-block.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { Strings } from '../../../i18n/strings.en.ts';
import { listArguments, showValue } from '../model/describe-tool.ts';
import { formatDuration } from '../model/format.ts';
import type { ToolItem } from '../model/view.ts';

/** Everything of a call: what it was given, why it might run, what it said and made. */
export function ToolDetail({ item }: { item: ToolItem }) {
  const strings = useStrings();
  const words = strings.tool;
  return (
    <div className="grid min-w-0 gap-3">
      <Part title={words.arguments}>
        <ArgumentList args={item.arguments} empty={words.noArguments} />
      </Part>
      {item.decision !== null && (
        <Part title={words.decision}>
          <p className="[overflow-wrap:anywhere]" dir="auto">
            {item.decision.reason.toWellFormed()}
          </p>
        </Part>
      )}
      {item.output !== '' && (
        <Part title={words.output}>
          {item.isOutputCut && <p className="mb-1 text-muted">{words.outputCut}</p>}
          <TerminalBlock raw={item.output} label={words.output} />
        </Part>
      )}
      {item.text !== null && (
        <Part title={words.result}>
          {item.untrusted !== null && (
            <p className="mb-1 text-amber [overflow-wrap:anywhere]">{words.untrusted(item.untrusted)}</p>
          )}
          {item.text.trim() === '' ? (
            <p className="text-muted">{words.noResult}</p>
          ) : (
            <TerminalBlock raw={item.text} label={words.result} />
          )}
        </Part>
      )}
      {item.artifacts.length > 0 && (
        <Part title={words.files}>
          <ArtifactLinks artifacts={item.artifacts} />
        </Part>
      )}
      {item.data !== undefined && item.data !== null && (
        <Details name="data" summary={words.data}>
          <OutputBlock text={showValue(item.data).toWellFormed()} label={words.data} />
        </Details>
      )}
      <Facts item={item} />
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 text-xs font-medium text-muted">{title}</p>
      {children}
    </div>
  );
}

function Facts({ item }: { item: ToolItem }) {
  const strings = useStrings();
  const facts = [
    item.tool,
    ...describePlace(item.ranOn, strings),
    item.durationMs === null ? null : formatDuration(item.durationMs),
  ].filter((fact) => fact !== null);
  return <p className="mono text-muted [overflow-wrap:anywhere]">{facts.join(' · ')}</p>;
}

/** Where a call ran, how its VM came, and on which host. */
function describePlace(ranOn: ToolItem['ranOn'], strings: Strings): string[] {
  if (ranOn === null || ranOn === undefined) return [];
  const places: Record<string, string> = strings.tool.ranOn;
  const place = places[ranOn.kind] ?? ranOn.kind;
  if (ranOn.from === undefined) return [place];
  const host = ranOn.host === undefined ? [] : [strings.vm.onHost(ranOn.host)];
  return [`${place} (${strings.vm.from[ranOn.from]})`, ...host];
}

/** Arguments by name, each exactly as it is. */
export function ArgumentList({ args, empty }: { args: unknown; empty: string }) {
  const list = listArguments(args);
  if (list.length === 0) return <p className="text-muted">{empty}</p>;
  return (
    <dl className="grid min-w-0 gap-1.5">
      {list.map(({ name, value }) => (
        <div key={name} className="min-w-0">
          {name !== '' && (
            <dt className="mono text-muted">
              <ExactText text={name} />
            </dt>
          )}
          <dd
            className="max-h-80 overflow-auto rounded-md border border-line bg-sunken px-3 py-1.5"
            tabIndex={0}
          >
            <ExactText text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
