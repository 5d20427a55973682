/** Where the last paragraph or heading begins that stands by itself: outside fences, lists, quotes and tables. */
export function findStableCut(text: string): number {
  let isInFence = false;
  let cut = 0;
  let at = 0;
  let isAfterBlank = false;
  for (const line of text.split('\n')) {
    if (/^\s{0,3}(?:```|~~~)/u.test(line)) isInFence = !isInFence;
    else if (!isInFence && isAfterBlank && /^[^\s\-*+>|\d[]/u.test(line)) cut = at;
    isAfterBlank = line.trim() === '';
    at += line.length + 1;
  }
  return cut;
}
