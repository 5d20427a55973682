import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { serverNow } from '../../../api/server-clock.ts';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useStrings } from '../../../i18n/strings-context.tsx';
import { formatDuration } from '../../chat/model/format.ts';
import { describeStep } from '../model/describe-step.ts';
import { LANES, layOutBars, type Bar } from '../model/gantt-bars.ts';
import type { Step } from '../model/step.ts';
import { endOf, makeTimeScale, type TimeScale } from '../model/time-scale.ts';
import { taskStrings } from '../strings.ts';

interface GanttProps {
  steps: readonly Step[];
  isPart: boolean;
  onOpen: (key: string) => void;
}

const LANE_PX = 22;

/** When the model thought, tools ran and the task waited. One stop for the keyboard, which moves from bar to bar. */
export function Gantt({ steps, isPart, onOpen }: GanttProps) {
  const strings = useFeatureStrings(taskStrings);
  const { chart } = strings;
  const now = useNow(steps.some((step) => step.endedAt === null));
  const { frame, width } = useWidth();
  const [at, setAt] = useState<string | null>(null);
  const scale = useMemo(() => (steps.length === 0 ? null : makeTimeScale(steps, now)), [steps, now]);
  const bars = useMemo(
    () => (scale === null ? [] : layOutBars(steps, scale, width, now)),
    [steps, scale, width, now],
  );
  const index = bars.findIndex((bar) => bar.steps.some((step) => step.key === at));
  const bar = bars[index];
  const detail = useBarText(bar, now);
  if (scale === null || bars.length === 0) return null;

  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next =
      by !== undefined
        ? Math.min(bars.length - 1, Math.max(0, index + by))
        : { Home: 0, End: bars.length - 1 }[event.key];
    if (event.key === 'Enter' && bar !== undefined) onOpen(bar.steps[0]?.key ?? '');
    else if (next === undefined) return;
    else setAt(bars[next]?.steps[0]?.key ?? null);
    event.preventDefault();
  };

  return (
    <section aria-label={chart.title} className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <div className="grid grid-cols-[5.5rem_minmax(0,1fr)]">
        <ul className="text-xs text-muted" aria-hidden="true">
          {LANES.map((lane) => (
            <li key={lane} className="flex items-center truncate" style={{ height: LANE_PX }}>
              {chart.lanes[lane]}
            </li>
          ))}
        </ul>
        <div
          ref={frame}
          role="slider"
          tabIndex={0}
          aria-label={`${chart.title}. ${chart.keys}`}
          aria-valuemin={1}
          aria-valuemax={bars.length}
          aria-valuenow={index + 1 || 1}
          aria-valuetext={detail ?? chart.hover}
          onKeyDown={onKeyDown}
          className="relative cursor-default overflow-hidden rounded-md border border-line bg-sunken"
          style={{ height: LANE_PX * LANES.length + 2 }}
        >
          {scale.cuts.map((cut) => (
            <span
              key={cut.x0}
              title={chart.cut}
              className="absolute inset-y-0 border-x border-dashed border-line-strong"
              style={{ left: percent(cut.x0), width: percent(cut.x1 - cut.x0) }}
            />
          ))}
          {bars.map((one) => (
            <span
              key={one.steps[0]?.key}
              className={`absolute rounded-[3px] ${lookOf(one)} ${one === bar ? 'outline-2 outline-offset-1 outline-ink' : ''}`}
              style={{
                left: percent(one.x0),
                width: percent(one.x1 - one.x0),
                top: LANES.indexOf(one.lane) * LANE_PX + 4,
                height: LANE_PX - 8,
              }}
              onPointerEnter={() => setAt(one.steps[0]?.key ?? null)}
              onClick={() => onOpen(one.steps[0]?.key ?? '')}
            />
          ))}
        </div>
      </div>
      <Axis scale={scale} isNarrow={width < 420} />
      <p className="min-h-5 truncate text-xs text-muted" data-chart-detail dir="auto">
        {detail ?? `${chart.hover}${isPart ? ` (${chart.part})` : ''}`}
      </p>
    </section>
  );
}

function lookOf(bar: Bar): string {
  // A turn that was tried again did come; a call that failed did not.
  if (bar.isTrouble) return bar.lane === 'model' ? 'bg-amber-line' : 'bg-red';
  if (bar.lane === 'model') return bar.isOpen ? 'bg-accent-fill opacity-60' : 'bg-accent-fill';
  if (bar.lane === 'tools') return bar.isOpen ? 'bg-line-strong opacity-60' : 'bg-line-strong';
  return 'bg-amber-line';
}

/** Time since the beginning; where waits are cut the marks say how late it is all the same. */
function Axis({ scale, isNarrow }: { scale: TimeScale; isNarrow: boolean }) {
  const marks = isNarrow ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  return (
    <div className="tabular relative ms-[5.5rem] h-4 text-[0.6875rem] text-muted" aria-hidden="true">
      {marks.map((mark) => (
        <span
          key={mark}
          className="absolute whitespace-nowrap"
          style={{
            left: percent(mark),
            transform: `translateX(${mark === 0 ? 0 : mark === 1 ? -100 : -50}%)`,
          }}
        >
          {mark === 0 ? '0' : `+${formatDuration(scale.toTime(mark) - scale.from)}`}
        </span>
      ))}
    </div>
  );
}

function useBarText(bar: Bar | undefined, now: number): string | null {
  const task = useFeatureStrings(taskStrings);
  const shared = useStrings();
  const [step] = bar?.steps ?? [];
  if (bar === undefined || step === undefined) return null;
  const { title, object, state } = describeStep(step, { task, shared });
  const took = formatDuration(endOf(step, now) - Date.parse(step.startedAt));
  const many = bar.steps.length > 1 ? task.chart.many(bar.steps.length) : null;
  return [many, title, object.slice(0, 120), state, took]
    .filter((part) => part != null && part !== '')
    .join(' · ');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

/** The time, each second while something goes on. */
function useNow(isLive: boolean): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!isLive) return;
    const timer = window.setInterval(() => setNow(serverNow()), 1000);
    return () => window.clearInterval(timer);
  }, [isLive]);
  return now;
}

function useWidth() {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useEffect(() => {
    if (frame.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 800));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return { frame, width };
}
