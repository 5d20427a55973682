/** Where sealed values lie, for changing the master key. Names are written in code, never taken from outside. */
export interface SealedTable {
  table: string;
  /** Column of the sealed bytes; `key_id` stands beside it. */
  column: string;
  /** Columns that name a row. */
  key: readonly string[];
  /** Columns that the place is made of beside those. */
  more?: readonly string[];
  /** What a value belongs to, from the columns of its row: the associated data it was sealed with. */
  placeOf: (row: Record<string, string>) => string;
}
