import type { ReactNode } from 'react';

export interface Column<Row> {
  key: string;
  label: string;
  /** Numbers stand under each other. */
  isNumber?: boolean;
  /** The one that names the row. */
  isName?: boolean;
  cell: (row: Row) => ReactNode;
}

/** Rows and columns that scroll sideways in their own frame where the page is narrow; the frame can be focused for that. */
export function DataTable<Row>(props: {
  /** What the table is of, for who cannot see what stands above it. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}) {
  const { label, columns, rows, rowKey } = props;
  return (
    <div
      role="region"
      aria-label={label}
      // What scrolls must be reached by keyboard.
      tabIndex={0}
      className="overflow-x-auto rounded-lg border border-line bg-surface"
    >
      <table className="tabular w-full border-collapse text-start">
        <thead>
          <tr className="border-b border-line text-muted">
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                className={`px-3 py-2 font-medium whitespace-nowrap ${column.isNumber ? 'text-end' : 'text-start'}`}
              >
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="border-b border-line last:border-b-0">
              {columns.map((column) => (
                <Cell key={column.key} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const Tag = column.isName === true ? 'th' : 'td';
  return (
    <Tag
      {...(column.isName === true ? { scope: 'row' as const } : {})}
      className={`px-3 py-2 align-top font-normal ${column.isName ? 'min-w-36' : ''} ${column.isNumber ? 'text-end whitespace-nowrap' : 'text-start'}`}
    >
      {column.cell(row)}
    </Tag>
  );
}
