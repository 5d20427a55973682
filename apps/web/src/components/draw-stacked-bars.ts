import uPlot from 'uplot';
import { stack } from './stack.ts';

export interface StackedBarsData {
  /** One a bar, as it stands on the axis. */
  labels: readonly string[];
  series: readonly { name: string; color: string; values: readonly number[] }[];
}

export interface StackedBarsDrawing {
  data: StackedBarsData;
  formatValue: (value: number) => string;
  axes: { x: string; y: string };
  height: number;
  /** The bar under the pointer, or `null`. */
  onPoint: (at: number | null) => void;
}

/** Draws into an element that is laid out; the colours are those of the theme at that moment. */
export function drawStackedBars(element: HTMLElement, drawing: StackedBarsDrawing): uPlot {
  const { data, formatValue, axes, height, onPoint } = drawing;
  const colorOf = (color: string) => resolveColor(element, color);
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis = { stroke: colorOf('var(--muted)'), font, labelFont: font, labelSize: 18 };
  const grid = { stroke: colorOf('var(--line)'), width: 1 };
  const bars = uPlot.paths.bars?.({ size: [0.72, 48], radius: 0.08 });
  const totals = stack(
    data.labels.length,
    data.series.map((series) => series.values),
  );
  // The highest first: each lower sum is drawn over it.
  const series = totals
    .map((values, index) => ({ values, color: data.series[index]?.color ?? '' }))
    .toReversed();
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      padding: [12, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: [-0.6, data.labels.length - 0.4] },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          label: axes.x,
          size: 32,
          space: 64,
          grid: { show: false },
          ticks: grid,
          incrs: [1, 2, 7, 14, 28, 56],
          values: (_, splits) => splits.map((at) => data.labels[at] ?? ''),
        },
        {
          ...axis,
          label: axes.y,
          size: 64,
          grid,
          ticks: grid,
          values: (_, splits) => splits.map(formatValue),
        },
      ],
      series: [
        {},
        ...series.map(({ color }) => ({
          fill: colorOf(color),
          width: 0,
          points: { show: false },
          ...(bars === undefined ? {} : { paths: bars }),
        })),
      ],
      hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
    },
    [data.labels.map((_, index) => index), ...series.map(({ values }) => values)],
    element,
  );
}

/** A colour of the style sheet as a canvas takes it. */
function resolveColor(element: HTMLElement, color: string): string {
  const probe = document.createElement('span');
  probe.style.color = color;
  element.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
