import { useId } from 'react';
import { Elapsed } from '../../../components/elapsed.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useKept } from '../../../components/kept-state.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { describeObject, nameTool } from '../model/describe-tool.ts';
import { formatDuration } from '../model/format.ts';
import { terminalToText } from '../model/terminal-runs.ts';
import type { ToolItem, ToolState } from '../model/view.ts';
import { ToolDetail } from './tool-detail.tsx';
import { chooseToolIcon } from './tool-icon.ts';

const STATE_LOOKS: Record<ToolState, string> = {
  waiting: 'text-muted',
  asking: 'text-amber',
  running: 'text-accent',
  ok: 'text-muted',
  error: 'text-red',
  invalid: 'text-red',
  refused: 'text-muted',
  cancelled: 'text-muted',
  timeout: 'text-red',
  unknown: 'text-amber',
};

/** A call in one line: sign, verb, object, state, time. It opens to everything there is. */
export function ToolCard({ item }: { item: ToolItem }) {
  const strings = useStrings();
  const isRunning = item.state === 'running';
  const [isOpen, setOpen] = useKept('card', false);
  const id = useId();
  return (
    <div className="appear rounded-lg border border-line bg-surface">
      <button
        type="button"
        data-state={isOpen ? 'open' : 'closed'}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="group flex min-h-9 w-full min-w-0 items-center gap-2.5 rounded-lg px-3 py-1.5 text-start hover:bg-sunken"
      >
        <Icon name={chooseToolIcon(item.tool)} className="text-muted" />
        <span className="max-w-[50%] shrink-0 truncate font-medium" dir="auto">
          {nameTool(item.tool, strings.tool.verbs)}
        </span>
        <span className="mono min-w-0 flex-1 truncate text-muted" dir="auto">
          {describeObject(item.arguments)}
        </span>
        <Place item={item} />
        <span className={`flex shrink-0 items-center gap-1.5 ${STATE_LOOKS[item.state]}`}>
          {isRunning && <span className="live-dot" />}
          {strings.tool.state[item.state]}
        </span>
        <span className="tabular hidden w-14 shrink-0 text-end text-muted sm:inline">
          {isRunning && item.startedAt !== null && <Elapsed since={item.startedAt} />}
          {item.durationMs !== null && item.durationMs > 0 && formatDuration(item.durationMs)}
        </span>
        <Icon
          name="chevron"
          className="size-3.5 text-muted transition-transform group-data-[state=open]:rotate-90"
        />
      </button>
      {isRunning && <LastLine item={item} />}
      {isOpen && (
        <div id={id} className="border-t border-line px-3 py-3">
          <ToolDetail item={item} />
        </div>
      )}
    </div>
  );
}

/** Where a command ran, in a word. */
function Place({ item: { ranOn } }: { item: ToolItem }) {
  const words: Record<string, string> = useStrings().tool.ranOnShort;
  const word = ranOn && words[ranOn.kind];
  if (!word) return null;
  return <span className="shrink-0 rounded-sm border border-line px-1 text-xs text-muted">{word}</span>;
}

/** While it runs: the last thing it said, in the place of one line. */
function LastLine({ item }: { item: ToolItem }) {
  const line = item.note ?? terminalToText(item.output.slice(-4000)).trimEnd().split('\n').at(-1) ?? '';
  if (line.trim() === '') return null;
  return (
    <p className="mono truncate px-3 pb-2 ps-9.5 text-muted" dir="auto">
      {line}
    </p>
  );
}
