export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Columns beyond these are left out: nobody reads them, and the page would carry them. */
const MAX_COLUMNS = 100;

/** Comma or tab separated values (RFC 4180): quotes, line breaks within them. The first row names the columns. */
export function readSeparated(text: string, separator: ',' | '\t'): Table | null {
  const [columns, ...rows] = splitRecords(text, separator);
  return columns === undefined ? null : { columns, rows };
}

function splitRecords(text: string, separator: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endCell = () => {
    if (record.length < MAX_COLUMNS) record.push(cell);
    cell = '';
  };
  const endRecord = () => {
    endCell();
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  };
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at] as string;
    if (isQuoted) {
      if (unit !== '"') cell += unit;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (unit === '"' && cell === '') isQuoted = true;
    else if (unit === separator) endCell();
    else if (unit === '\n') endRecord();
    else if (unit !== '\r' || text[at + 1] !== '\n') cell += unit;
  }
  if (cell !== '' || record.length > 0) endRecord();
  return records;
}

/** A JSON array of objects as a table; `null` for everything else. */
export function toTable(value: unknown): Table | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const isObjects = value.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
  if (!isObjects) return null;
  const records = value as Record<string, unknown>[];
  const columns = [...new Set(records.slice(0, 1_000).flatMap((one) => Object.keys(one)))].slice(
    0,
    MAX_COLUMNS,
  );
  if (columns.length === 0) return null;
  return { columns, rows: records.map((one) => columns.map((column) => showCell(one[column]))) };
}

function showCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
