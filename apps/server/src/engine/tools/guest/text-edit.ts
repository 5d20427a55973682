/** Replaces exact text; says precisely why it cannot. */
export type EditOutcome = { text: string; count: number } | { problem: string };

const MAX_SHOWN = 5;

/** `old` must occur exactly once unless `all`. Offsets are never guessed: near matches are only shown. */
export function replaceExactly(text: string, old: string, replacement: string, all: boolean): EditOutcome {
  if (old === '') return { problem: 'The text to replace is empty. Use write_file to make a file.' };
  if (old === replacement) return { problem: 'The old and the new text are the same.' };
  const places = placesOf(text, old);
  if (places.length === 0)
    return { problem: `The text to replace does not occur in the file.${nearMatches(text, old)}` };
  if (places.length > 1 && !all) {
    const lines = places.slice(0, MAX_SHOWN).map((place) => lineAt(text, place));
    const more = places.length > MAX_SHOWN ? ', …' : '';
    return {
      problem:
        `The text to replace occurs ${places.length} times, at lines ${lines.join(', ')}${more}. ` +
        'Give more of what is around it, or set `all`.',
    };
  }
  return { text: text.split(old).join(replacement), count: places.length };
}

function placesOf(text: string, old: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) places.push(at);
  return places;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Places that differ in white space only, else the lines most like the first line that is asked for. */
function nearMatches(text: string, old: string): string {
  const lines = text.split('\n');
  const wanted = old.split('\n').map(folded);
  while (wanted.length > 1 && wanted.at(-1) === '') wanted.pop();
  const foldedLines = lines.map(folded);
  const spaced = foldedLines.findIndex((_, index) =>
    wanted.every((line, offset) => foldedLines[index + offset] === line),
  );
  if (spaced !== -1) {
    const part = lines.slice(spaced, spaced + wanted.length).join('\n');
    return ` At line ${spaced + 1} it occurs with other white space:\n${part.slice(0, 2000)}`;
  }
  const first = wanted.find((line) => line.length > 3);
  if (first === undefined) return '';
  const alike = foldedLines
    .map((line, index) => ({ index, score: likeness(first, line) }))
    .filter(({ score }) => score >= 0.6)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ index }) => `\n${index + 1}: ${(lines[index] ?? '').slice(0, 300)}`);
  return alike.length === 0 ? '' : ` The nearest lines are:${alike.join('')}`;
}

function folded(line: string): string {
  return line.replace(/\s+/g, ' ').trim();
}

/** Share of common pairs of characters (Dice's coefficient), 0 to 1. */
function likeness(a: string, b: string): number {
  if (b.length < 2 || b.length > 2000) return 0;
  const pairs = new Map<string, number>();
  for (let index = 0; index < a.length - 1; index += 1) {
    const pair = a.slice(index, index + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let common = 0;
  for (let index = 0; index < b.length - 1; index += 1) {
    const pair = b.slice(index, index + 2);
    const left = pairs.get(pair) ?? 0;
    if (left > 0) common += 1;
    pairs.set(pair, left - 1);
  }
  return (2 * common) / (a.length + b.length - 2);
}
