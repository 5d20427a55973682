/**
 * Where the parts of Markdown begin that stand by themselves, from 0 on: at paragraphs, headings and fences, outside
 * fences, lists, quotes and tables. What is written later only adds to the last part or begins new ones.
 */
export function findStableCuts(text: string): number[] {
  const cuts = [0];
  let fence: string | null = null;
  let at = 0;
  let isAfterBlank = false;
  for (const line of text.split('\n')) {
    if (fence === null && isAfterBlank && at > 0 && /^[^\s\-*+>|\d[]/u.test(line)) cuts.push(at);
    fence = fenceAfter(line, fence);
    isAfterBlank = line.trim() === '';
    at += line.length + 1;
  }
  return cuts;
}

/** What opened the fence that the next line is in. It is closed by as many of its own signs at least, alone in a line. */
function fenceAfter(line: string, open: string | null): string | null {
  const [, signs = '', rest = ''] = /^\s{0,3}(`{3,}|~{3,})(.*)$/u.exec(line) ?? [];
  if (signs === '') return open;
  if (open === null) return signs.startsWith('`') && rest.includes('`') ? null : signs;
  return signs.startsWith(open) && rest.trim() === '' ? null : open;
}

/** Parts mean the same as the whole: nothing is defined in one for another, and no HTML goes over blank lines. */
export function mayStandInParts(text: string): boolean {
  return !/^\s{0,3}[<[]/mu.test(text);
}
