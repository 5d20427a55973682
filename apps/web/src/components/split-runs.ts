import type { TerminalRun } from '../features/chat/model/terminal-runs.ts';

/** Text in parts of at most `max` UTF-16 units that end with a line where they can; only a longer line is cut. */
export function splitRuns(runs: readonly TerminalRun[], max: number): TerminalRun[][] {
  const cuts = findCuts(runs.map((run) => run.text).join(''), max);
  const parts: TerminalRun[][] = [[]];
  let at = 0;
  for (const { text, look } of runs) {
    let from = 0;
    while (from < text.length) {
      const cut = cuts[parts.length - 1] ?? Infinity;
      const to = Math.min(text.length, cut - at);
      parts.at(-1)?.push({ text: text.slice(from, to), look });
      from = to;
      if (at + to === cut) parts.push([]);
    }
    at += text.length;
  }
  return parts;
}

function findCuts(text: string, max: number): number[] {
  const cuts: number[] = [];
  for (let from = 0; text.length - from > max; from = cuts.at(-1) ?? text.length) {
    const afterLine = text.lastIndexOf('\n', from + max - 1) + 1;
    cuts.push(afterLine > from ? afterLine : from + max - (isHighSurrogate(text, from + max - 1) ? 1 : 0));
  }
  return cuts;
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}
