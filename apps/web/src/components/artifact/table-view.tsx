import { useState } from 'react';
import { useStrings } from '../../i18n/strings-context.tsx';
import { Button } from '../button.tsx';
import type { Table } from './read-table.ts';

/** Rows in the page at first, and how many more come with each step. */
const STEP = 200;
/** Longest cell that is shown whole, in UTF-16 units. */
const CELL_MAX = 500;

export function TableView({ table, label }: { table: Table; label: string }) {
  const strings = useStrings();
  const [shown, setShown] = useState(STEP);
  const count = Math.min(shown, table.rows.length);
  return (
    <div className="min-h-0 flex-1 overflow-auto" tabIndex={0} role="group" aria-label={label}>
      <table className="tabular w-max min-w-full border-collapse text-sm">
        <thead>
          <tr>
            {table.columns.map((column, at) => (
              <th
                key={at}
                scope="col"
                dir="auto"
                className="sticky top-0 border-b border-line-strong bg-surface px-3 py-1.5 text-start font-medium text-muted"
              >
                {cut(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, count).map((row, at) => (
            <tr key={at} className="border-b border-line">
              {table.columns.map((_, column) => (
                <td key={column} dir="auto" className="max-w-96 px-3 py-1 align-top [overflow-wrap:anywhere]">
                  {cut(row[column] ?? '')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="sticky start-0 flex w-fit items-center gap-3 px-3 py-2 text-muted">
        {strings.artifact.rows(count, table.rows.length)}
        {count < table.rows.length && (
          <Button onClick={() => setShown(count + STEP)}>{strings.artifact.more}</Button>
        )}
      </p>
    </div>
  );
}

function cut(text: string): string {
  return (text.length <= CELL_MAX ? text : `${text.slice(0, CELL_MAX)}…`).toWellFormed();
}
