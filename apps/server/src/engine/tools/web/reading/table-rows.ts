import { isElement, walkNodes, type PageElement, type PageNode } from './page-dom.ts';
import type { TextWriter } from './text-writer.ts';

/** Writes tables of data row by row between bars; tables that only lay out a page are read as blocks. */
export class TableRows {
  readonly #writer: TextWriter;
  /** Tables that hold other tables. */
  readonly #layouts: Set<PageElement>;
  readonly #tables: { isLayout: boolean; rows: number }[] = [];
  readonly #rows: { isData: boolean; cells: number; heads: number }[] = [];

  constructor(root: PageNode, writer: TextWriter) {
    this.#writer = writer;
    this.#layouts = findLayouts(root);
  }

  begin(element: PageElement): () => void {
    if (element.localName === 'table') return this.#table(element);
    return element.localName === 'tr' ? this.#row(element) : this.#cell(element);
  }

  #table(element: PageElement): () => void {
    this.#writer.paragraph();
    this.#tables.push({ isLayout: this.#layouts.has(element), rows: 0 });
    return () => {
      this.#tables.pop();
      this.#writer.paragraph();
    };
  }
  #row(element: PageElement): () => void {
    const table = this.#tables.at(-1);
    const cells = [...element.children].filter(({ localName }) => localName === 'td' || localName === 'th');
    const isData = table !== undefined && !table.isLayout && cells.length > 1;
    this.#writer.line();
    if (isData) this.#writer.raw('|');
    const row = { isData, cells: 0, heads: 0 };
    this.#rows.push(row);
    return () => {
      this.#rows.pop();
      this.#writer.line();
      if (table === undefined || !isData) return;
      if (table.rows++ === 0 && row.heads === row.cells) {
        this.#writer.raw(`|${' --- |'.repeat(Math.min(row.cells, 200))}`);
        this.#writer.line();
      }
    };
  }
  #cell(element: PageElement): () => void {
    const row = this.#rows.at(-1);
    const writer = this.#writer;
    if (row === undefined || !row.isData) return (writer.line(), () => writer.line());
    row.cells++;
    if (element.localName === 'th') row.heads++;
    writer.flatten();
    writer.space();
    return () => {
      writer.space();
      writer.raw('|');
      writer.unflatten();
    };
  }
}

function findLayouts(root: PageNode): Set<PageElement> {
  const layouts = new Set<PageElement>();
  const open: PageElement[] = [];
  walkNodes(
    root,
    (node) => {
      if (!isElement(node)) return false;
      if (node.localName === 'table') {
        const outer = open.at(-1);
        if (outer !== undefined) layouts.add(outer);
        open.push(node);
      }
      return true;
    },
    (element) => void (element.localName === 'table' && open.pop()),
  );
  return layouts;
}
