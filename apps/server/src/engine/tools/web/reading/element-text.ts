import { isElement, isText, walkNodes, type PageElement, type PageNode } from './page-dom.ts';
import { TableRows } from './table-rows.ts';
import { TextWriter, type Mark } from './text-writer.ts';

const PARAGRAPHS = new Set('p section article figure dl hgroup main fieldset'.split(' '));
const LINES = new Set(
  `address aside body center dd details div dt figcaption footer form header html label legend menu nav option
  search summary tbody tfoot thead caption`.split(/\s+/),
);
const HEADINGS: Record<string, string> = {
  h1: '#',
  h2: '##',
  h3: '###',
  h4: '####',
  h5: '#####',
  h6: '######',
};
/** Inline elements whose meaning would be lost without a sign. */
const SIGNS: Record<string, [string, string]> = {
  code: ['`', '`'],
  kbd: ['`', '`'],
  samp: ['`', '`'],
  del: ['~~', '~~'],
  s: ['~~', '~~'],
  sup: ['^', ''],
  sub: ['_', ''],
};
const SKIPPED = new Set(['title', 'input', 'textarea']);
const MAX_URL_LENGTH = 2_000;

/** The text of what is below `root`, in Markdown: headings, lists, tables, code and links keep their form. */
export function toText(root: PageNode, baseUrl: string, maxLength: number): string {
  const reader = new ElementText(root, baseUrl, maxLength);
  walkNodes(
    root,
    (node) => reader.enter(node),
    (element) => reader.leave(element),
  );
  return reader.toString();
}

class ElementText {
  readonly #writer: TextWriter;
  readonly #rows: TableRows;
  readonly #baseUrl: string;
  /** What ends each open element that needs an end. */
  readonly #ends = new Map<PageElement, () => void>();
  /** The number of the next item of each open list; `null` in one without numbers. */
  readonly #lists: (number | null)[] = [];
  #preformatted = 0;
  #links = 0;

  constructor(root: PageNode, baseUrl: string, maxLength: number) {
    this.#writer = new TextWriter(maxLength);
    this.#rows = new TableRows(root, this.#writer);
    this.#baseUrl = baseUrl;
  }
  toString(): string {
    return this.#writer.toString();
  }

  enter(node: PageNode): boolean {
    if (this.#writer.isFull) return false;
    if (isText(node)) {
      if (this.#preformatted > 0) this.#writer.raw(node.nodeValue ?? '');
      else this.#writer.text(node.nodeValue ?? '');
      return false;
    }
    if (!isElement(node) || SKIPPED.has(node.localName)) return false;
    const end = this.#begin(node, node.localName);
    if (end !== undefined) this.#ends.set(node, end);
    return true;
  }
  leave(element: PageElement): void {
    this.#ends.get(element)?.();
    this.#ends.delete(element);
  }

  #begin(element: PageElement, name: string): (() => void) | undefined {
    const writer = this.#writer;
    const heading = HEADINGS[name];
    if (heading !== undefined) return this.#block(() => this.#sign(`${heading} `, ''));
    if (PARAGRAPHS.has(name)) return this.#block();
    if (LINES.has(name)) return (writer.line(), () => writer.line());
    const sign = SIGNS[name];
    if (sign !== undefined) return this.#preformatted > 0 ? undefined : this.#sign(...sign);
    switch (name) {
      case 'br':
        if (this.#preformatted > 0) writer.raw('\n');
        else writer.line();
        return undefined;
      case 'hr':
        return this.#block(() => writer.raw('---'));
      case 'a':
        return this.#link(element);
      case 'img':
        return this.#image(element);
      case 'pre':
        return this.#code(element);
      case 'blockquote':
        return this.#block(() => (writer.indent('> ', '> '), () => writer.outdent()));
      case 'ul':
      case 'ol':
        return this.#list(element);
      case 'li':
        return this.#item();
      case 'table':
      case 'tr':
      case 'td':
      case 'th':
        return this.#rows.begin(element);
      default:
        return undefined;
    }
  }

  #block(begin?: () => (() => void) | void): () => void {
    this.#writer.paragraph();
    const end = begin?.();
    return () => {
      end?.();
      this.#writer.paragraph();
    };
  }
  #sign(before: string, after: string): () => void {
    const mark: Mark = this.#writer.open(before);
    return () => this.#writer.close(mark, after);
  }

  #link(element: PageElement): (() => void) | undefined {
    const target = this.#target(element.getAttribute('href') ?? '');
    if (target === null || this.#links > 0 || this.#preformatted > 0) return undefined;
    this.#links++;
    const end = this.#sign('[', `](${target})`);
    return () => {
      this.#links--;
      end();
    };
  }
  /** The full address of a link that leads somewhere else; `null` for places of the same page and for scripts. */
  #target(href: string): string | null {
    if (href === '' || href.trim().startsWith('#') || href.length > MAX_URL_LENGTH) return null;
    const url = URL.parse(href, this.#baseUrl);
    if (url === null || !['https:', 'http:', 'mailto:'].includes(url.protocol)) return null;
    return url.href.length > MAX_URL_LENGTH ? null : url.href.replaceAll('(', '%28').replaceAll(')', '%29');
  }
  #image(element: PageElement): undefined {
    const words = (element.getAttribute('alt') ?? '').trim();
    if (words !== '') this.#writer.text(`[image: ${words}]`);
  }

  #code(element: PageElement): (() => void) | undefined {
    if (this.#preformatted > 0) return undefined;
    const writer = this.#writer;
    const text = element.textContent ?? '';
    const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].slice(0, 1_000).map(([run]) => run.length));
    const fence = '`'.repeat(Math.min(longest + 1, 100));
    writer.paragraph();
    writer.raw(`${fence}${languageOf(element)}`);
    writer.line();
    this.#preformatted++;
    return () => {
      this.#preformatted--;
      writer.line();
      writer.raw(fence);
      writer.paragraph();
    };
  }

  #list(element: PageElement): () => void {
    const breakLine = () => (this.#lists.length > 0 ? this.#writer.line() : this.#writer.paragraph());
    breakLine();
    const start = Number.parseInt(element.getAttribute('start') ?? '1', 10);
    this.#lists.push(element.localName === 'ol' ? start || 1 : null);
    return () => {
      this.#lists.pop();
      breakLine();
    };
  }
  #item(): () => void {
    const writer = this.#writer;
    const number = this.#lists.at(-1) ?? null;
    if (number !== null) this.#lists[this.#lists.length - 1] = number + 1;
    const bullet = number === null ? '- ' : `${number}. `;
    writer.line();
    writer.indent(bullet, ' '.repeat(bullet.length));
    return () => {
      writer.outdent();
      writer.line();
    };
  }
}

function languageOf(element: PageElement): string {
  const inner = [...element.children][0];
  const classes = `${element.getAttribute('class') ?? ''} ${inner?.getAttribute('class') ?? ''}`;
  return /\blang(?:uage)?-([\w+#-]{1,30})/.exec(classes)?.[1] ?? '';
}
