import 'uplot/dist/uPlot.min.css';
import './stacked-bars.css';
import { useEffect, useRef, useState } from 'react';
import { drawStackedBars, type StackedBarsData } from './draw-stacked-bars.ts';
import { useThemeName } from './use-theme-name.ts';

const HEIGHT = 260;

/** At most this many series have a colour of their own; the caller puts the rest into the last. */
export const MOST_SERIES = 6;

export function seriesColor(index: number): string {
  return `var(--series-${Math.min(index, MOST_SERIES - 1) + 1})`;
}

/**
 * Bars that are stacked, one for each label on the horizontal axis. A picture: whoever shows it puts the same figures
 * into a table beside it. What the pointer is on is told in a line below that is always there, so that nothing moves.
 */
export function StackedBars(props: {
  /** What the picture shows, in words. */
  label: string;
  data: StackedBarsData;
  formatValue: (value: number) => string;
  axes: { x: string; y: string };
  /** The line below while the pointer is nowhere. */
  idle: string;
}) {
  const { label, data, formatValue, axes, idle } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | null>(null);
  const theme = useThemeName();
  const draw = useRef({ data, formatValue, axes });
  useEffect(() => {
    draw.current = { data, formatValue, axes };
  });
  const shown = JSON.stringify([data, axes]);

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const chart = drawStackedBars(element, { ...draw.current, height: HEIGHT, onPoint: setAt });
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [shown, theme]);

  return (
    <div>
      <div
        ref={frame}
        role="img"
        aria-label={label}
        className="w-full overflow-hidden"
        style={{ height: HEIGHT }}
      />
      <p className="tabular h-10 overflow-hidden md:h-6 text-muted" aria-hidden="true">
        {at === null ? idle : describePoint(data, at, formatValue)}
      </p>
    </div>
  );
}

function describePoint(data: StackedBarsData, at: number, formatValue: (value: number) => string): string {
  const parts = data.series
    .map((series) => ({ name: series.name, value: series.values[at] ?? 0 }))
    .filter((part) => part.value > 0)
    .map((part) => `${part.name} ${formatValue(part.value)}`);
  const total = data.series.reduce((sum, series) => sum + (series.values[at] ?? 0), 0);
  return `${data.labels[at] ?? ''}: ${formatValue(total)}${parts.length > 1 ? ` (${parts.join(', ')})` : ''}`;
}
