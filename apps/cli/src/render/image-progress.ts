import type { ImageProgress } from '../image-program.ts';
import type { Output } from '../output.ts';
import { formatDuration } from '../text/format.ts';
import { toPlainLine } from '../text/terminal-text.ts';

const CELLS = 24;
const EVERY_MS = 1_000;

/** How far a build is: a bar in the last line of a terminal, else a line a step. */
export function showImageProgress(output: Output): {
  show: (progress: ImageProgress) => void;
  end: () => void;
} {
  const started = performance.now();
  const isTerminal = process.stderr.isTTY === true;
  let now: ImageProgress | null = null;
  const draw = () => {
    if (now !== null) output.status(barLine(now, performance.now() - started));
  };
  // The seconds go on while a step takes long.
  const timer = setInterval(draw, EVERY_MS);
  timer.unref();
  const show = (progress: ImageProgress) => {
    if (!isTerminal && progress.step !== now?.step) output.notice(`${toPlainLine(progress.step)} …`);
    now = progress;
    draw();
  };
  const end = () => {
    clearInterval(timer);
    output.clearStatus();
  };
  return { show, end };
}

export function barLine({ step, fraction }: ImageProgress, milliseconds: number): string {
  const full = Math.floor(Math.min(1, Math.max(0, fraction)) * CELLS);
  const bar = '█'.repeat(full) + '░'.repeat(CELLS - full);
  const percent = String(Math.floor(fraction * 100)).padStart(3);
  return `${bar} ${percent} %  ${toPlainLine(step)} (${formatDuration(milliseconds)})`;
}
