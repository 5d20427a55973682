import { memo, useMemo, type ReactNode } from 'react';
import { PLAIN_LOOK } from '../features/chat/model/terminal-look.ts';
import { terminalToRuns, type TerminalRun } from '../features/chat/model/terminal-runs.ts';
import { useLanguage, useStrings } from '../i18n/strings-context.tsx';
import { Button } from './button.tsx';
import { useKept } from './kept-state.tsx';
import { splitRuns } from './split-runs.ts';
import { TerminalText } from './terminal-text.tsx';

/** Plain output in its own scroll frame. Text only, whatever it holds. */
export function OutputBlock({ text, label }: { text: string; label: string }) {
  return (
    <Bounded text={text} label={label}>
      {(part) => <Blocks runs={[{ text: part, look: PLAIN_LOOK }]} />}
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
  return <Blocks runs={runs} />;
}

/** Text that the browser lays out at once, in UTF-16 units: some screens of it. */
const BLOCK_MAX = 8_000;
/** Of a line, and how many letters fit into one, about: for the scroll bar, until a block has been seen. */
const LINE_PX = 20;
const LINE_LETTERS = 90;

/** Long output in blocks that are laid out when they come into sight; all of it stays in the page, to be found there. */
const Blocks = memo(function Blocks({ runs }: { runs: readonly TerminalRun[] }) {
  const blocks = useMemo(() => splitRuns(runs, BLOCK_MAX), [runs]);
  if (blocks.length === 1) return <TerminalText runs={runs} />;
  return blocks.map((block, index) => (
    <span
      key={index}
      className="block [content-visibility:auto]"
      style={{ containIntrinsicSize: `auto ${guessHeight(block)}px` }}
    >
      <TerminalText runs={block} />
    </span>
  ));
});

function guessHeight(runs: readonly TerminalRun[]): number {
  const lines = runs
    .map((run) => run.text)
    .join('')
    .split('\n');
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_LETTERS)), 0) * LINE_PX;
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
        <span className="block">…</span>
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
