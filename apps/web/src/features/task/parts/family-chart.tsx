import type { Task } from '@vitto/contracts';
import { Link } from '@tanstack/react-router';
import { Fragment, memo } from 'react';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { standingOf } from '../../agents/state-mark.tsx';
import { agentsStrings } from '../../agents/strings.ts';
import { formatDuration } from '../../chat/model/format.ts';
import { endOf, layOutFamily, startOf, type FamilyBar, type FamilyRow } from '../model/family-rows.ts';
import { taskStrings } from '../strings.ts';

const COLUMNS =
  'grid grid-cols-[minmax(8rem,16rem)_minmax(0,1fr)_4.5rem] items-center gap-x-3 max-sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_4rem]';

/** A bar for each, from when it was deployed to its end: lighter while it waited in line. */
export function FamilyChart({ rows, now }: { rows: readonly FamilyRow[]; now: number }) {
  const { family } = useFeatureStrings(taskStrings);
  const { bars, from, to } = layOutFamily(rows, now);
  return (
    <div>
      <div
        role="region"
        aria-label={family.title(rows.length)}
        // What scrolls must be reached by keyboard.
        tabIndex={0}
        className="max-h-[26rem] overflow-y-auto rounded-lg border border-line bg-surface px-3 py-1.5"
      >
        <ul>
          {rows.map((row, at) => (
            <Fragment key={row.task.id}>
              {row.begins !== null && (
                <li className="pt-1.5 text-xs text-muted">
                  {family.begins(row.begins.round, row.begins.wave)}
                </li>
              )}
              <ChartRow row={row} bar={bars[at] as FamilyBar} took={tookOf(row.task, now)} />
            </Fragment>
          ))}
        </ul>
      </div>
      <Axis length={to - from} />
      <Legend />
    </div>
  );
}

/** Whole seconds, so that a bar that stands still is not drawn again. */
function tookOf(task: Task, now: number): string | null {
  if (task.startedAt === null) return null;
  return formatDuration(endOf(task, now) - startOf(task, now));
}

interface ChartRowProps {
  row: FamilyRow;
  bar: FamilyBar;
  took: string | null;
}

const ChartRow = memo(
  function ChartRow({ row, bar, took }: ChartRowProps) {
    const { family } = useFeatureStrings(taskStrings);
    const agents = useFeatureStrings(agentsStrings);
    const shared = useStrings();
    const { task, level, number, after } = row;
    const title = (task.title === '' ? shared.app.untitled : task.title).toWellFormed();
    const words = [agents.state[standingOf(task)], after.length === 0 ? null : family.after(after)].filter(
      (word) => word !== null,
    );
    return (
      <li className={`${COLUMNS} min-h-7`} data-agent={task.id}>
        <span className="flex min-w-0 gap-1.5" style={{ paddingInlineStart: `${level * 1}rem` }}>
          <span className="tabular shrink-0 text-xs leading-5 text-muted">{number}</span>
          <Link
            to="/vitto/t/$taskId"
            params={{ taskId: task.id }}
            preload={false}
            title={title}
            className="min-w-0 truncate text-sm leading-5 hover:underline"
            dir="auto"
          >
            {title}
          </Link>
        </span>
        <span className="relative h-4" title={words.join(' · ')}>
          <span
            className="absolute inset-y-1 rounded-[3px] border border-dashed border-line-strong opacity-70"
            style={{
              left: percent(bar.x0),
              width: percent(bar.x1 - bar.x0),
              display: bar.x1 > bar.x0 ? 'block' : 'none',
            }}
          />
          {task.startedAt !== null && (
            <span
              className={`absolute inset-y-0 min-w-1 rounded-[3px] ${lookOf(task)}`}
              style={{ left: percent(bar.x1), width: percent(bar.x2 - bar.x1) }}
            />
          )}
          <span className="sr-only">{words.join(', ')}</span>
        </span>
        <span className="tabular truncate text-end text-xs text-muted">
          {took ?? (task.endedAt === null ? family.inLine : agents.state[standingOf(task)])}
        </span>
      </li>
    );
  },
  (a, b) =>
    a.row.task === b.row.task &&
    a.row.number === b.row.number &&
    a.row.level === b.row.level &&
    a.row.after.join() === b.row.after.join() &&
    a.took === b.took &&
    a.bar.x0 === b.bar.x0 &&
    a.bar.x1 === b.bar.x1 &&
    a.bar.x2 === b.bar.x2,
);

function lookOf(task: Task): string {
  if (task.state === 'failed') return 'bg-red';
  if (task.state === 'completed') return task.success === false ? 'bg-amber-line' : 'bg-green';
  if (task.state === 'cancelled') return 'bg-line-strong';
  return task.state === 'waiting_approval' || task.state === 'waiting_input'
    ? 'bg-amber-line'
    : 'bg-accent-fill';
}

function Axis({ length }: { length: number }) {
  return (
    <div className={`${COLUMNS} px-3 pt-1 text-[0.6875rem] text-muted`} aria-hidden="true">
      <span />
      <span className="tabular flex justify-between whitespace-nowrap">
        <span>0</span>
        <span className="max-sm:hidden">+{formatDuration(length / 2)}</span>
        <span>+{formatDuration(length)}</span>
      </span>
    </div>
  );
}

function Legend() {
  const { family } = useFeatureStrings(taskStrings);
  const looks: [string, string][] = [
    ['border border-dashed border-line-strong', family.legend.line],
    ['bg-accent-fill', family.legend.works],
    ['bg-amber-line', family.legend.asks],
    ['bg-green', family.legend.done],
    ['bg-red', family.legend.failed],
  ];
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 pt-1 text-xs text-muted">
      {looks.map(([look, word]) => (
        <li key={word} className="flex items-center gap-1.5">
          <span className={`h-2 w-4 rounded-[2px] ${look}`} aria-hidden="true" />
          {word}
        </li>
      ))}
    </ul>
  );
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}
