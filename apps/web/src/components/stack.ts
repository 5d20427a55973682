/** Each row with all before it added; a row that is too short counts as 0 there. */
export function stack(length: number, rows: readonly (readonly number[])[]): number[][] {
  let sums = Array.from({ length }, () => 0);
  return rows.map((row) => (sums = sums.map((sum, index) => sum + (row[index] ?? 0))));
}
