import type { TextLine } from './split-lines.ts';

export type DiffMark = 'added' | 'removed' | 'hunk' | 'file' | 'same';

/** What a line of a unified diff is; headings of files end with their `+++`. */
export function markDiff(lines: readonly TextLine[], marks: DiffMark[] = []): DiffMark[] {
  for (let at = marks.length; at < lines.length; at += 1) {
    const line = lines[at] as TextLine;
    // Pieces of a long line are what its beginning is.
    marks.push(line.number === null ? (marks[at - 1] ?? 'same') : markLine(line.text, lines[at + 1]?.text));
  }
  return marks;
}

function markLine(text: string, next: string | undefined): DiffMark {
  if (text.startsWith('@@')) return 'hunk';
  if (/^(?:diff |index |new file |deleted file |similarity |rename |old mode |new mode |\+\+\+ )/.test(text))
    return 'file';
  if (text.startsWith('--- ')) return next?.startsWith('+++ ') === true ? 'file' : 'removed';
  if (text.startsWith('+')) return 'added';
  return text.startsWith('-') ? 'removed' : 'same';
}

/** A text that is a unified diff whatever it is called: it says so within its first lines. */
export function looksLikeDiff(lines: readonly TextLine[]): boolean {
  const head = lines.slice(0, 40).map((line) => line.text);
  return head.some(
    (text, at) =>
      text.startsWith('--- ') &&
      head[at + 1]?.startsWith('+++ ') === true &&
      head[at + 2]?.startsWith('@@ ') === true,
  );
}

export function countChanges(marks: readonly DiffMark[]): { added: number; removed: number } {
  const count = (wanted: DiffMark) => marks.reduce((sum, mark) => (mark === wanted ? sum + 1 : sum), 0);
  return { added: count('added'), removed: count('removed') };
}
