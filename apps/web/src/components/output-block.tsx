import { memo, useMemo, type ReactNode } from 'react';
import { terminalToRuns } from '../features/chat/model/terminal-runs.ts';
import { useLanguage, useStrings } from '../i18n/strings-context.tsx';
import { Button } from './button.tsx';
import { useKept } from './kept-state.tsx';
import { TerminalText } from './terminal-text.tsx';

/** Plain output in its own scroll frame. Text only, whatever it holds. */
export function OutputBlock({ text, label }: { text: string; label: string }) {
  return (
    <Bounded text={text} label={label}>
      {(part) => part}
    </Bounded>
  );
}

/** What a terminal showed, with its colours. */
export const TerminalBlock = memo(function TerminalBlock({ raw, label }: { raw: string; label: string }) {
  return (
    <Bounded text={raw} label={label}>
      {(part) => <Runs raw={part} />}
    </Bounded>
  );
});

function Runs({ raw }: { raw: string }) {
  const runs = useMemo(() => terminalToRuns(raw), [raw]);
  return <TerminalText runs={runs} />;
}

/** Longer output is shown by its two ends, in UTF-16 units: all of it at once would be felt. */
const SHOWN_MAX = 60_000;

function Bounded(props: { text: string; label: string; children: (part: string) => ReactNode }) {
  const { text, label, children } = props;
  const strings = useStrings();
  const language = useLanguage();
  const [isAll, setAll] = useKept(`all ${label}`, false);
  if (isAll || text.length <= SHOWN_MAX) return <Frame label={label}>{children(text)}</Frame>;
  const half = SHOWN_MAX / 2;
  const count = new Intl.NumberFormat(language).format(text.length - SHOWN_MAX);
  return (
    <div className="grid min-w-0 gap-1">
      <Frame label={label}>
        {children(text.slice(0, half).toWellFormed())}
        {'\n…\n'}
        {children(text.slice(-half).toWellFormed())}
      </Frame>
      <p className="flex flex-wrap items-center gap-2 text-muted">
        {strings.tool.leftOut(count)}
        <Button onClick={() => setAll(true)}>{strings.tool.showAll}</Button>
      </p>
    </div>
  );
}

function Frame({ label, children }: { label: string; children: ReactNode }) {
  return (
    <pre
      tabIndex={0}
      role="group"
      aria-label={label}
      dir="auto"
      className="mono max-h-80 overflow-auto rounded-md border border-line bg-sunken px-3 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {children}
    </pre>
  );
}
