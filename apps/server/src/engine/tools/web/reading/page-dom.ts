import { parseHTML } from 'linkedom';

/** The little of the DOM that reading a page takes. */
export interface PageNode {
  nodeType: number;
  nodeValue: string | null;
  textContent: string | null;
  parentNode: PageNode | null;
  firstChild: PageNode | null;
  nextSibling: PageNode | null;
  remove: () => void;
}
export interface PageElement extends PageNode {
  localName: string;
  children: Iterable<PageElement>;
  getAttribute: (name: string) => string | null;
  hasAttribute: (name: string) => boolean;
  append: (node: PageNode) => void;
}
export interface PageDocument extends PageNode {
  documentElement: PageElement | null;
  body: PageElement;
  querySelector: (selector: string) => PageElement | null;
}

const ELEMENT = 1;
const TEXT = 3;
const COMMENT = 8;

export const isElement = (node: PageNode): node is PageElement => node.nodeType === ELEMENT;
export const isText = (node: PageNode): boolean => node.nodeType === TEXT;
export const isComment = (node: PageNode): boolean => node.nodeType === COMMENT;

/** Parses a page so that all of it is below the root element, its content in the body, though the source may name neither. */
export function parsePage(html: string): PageDocument {
  let document = parse(html);
  if (document.documentElement?.localName !== 'html') {
    document = parse(`<html><head></head><body>${html}</body></html>`);
  }
  const { body } = document;
  for (const place of [body, document.documentElement]) {
    for (let stray = place?.nextSibling; stray; stray = place?.nextSibling) body.append(stray);
  }
  return document;
}

function parse(html: string): PageDocument {
  return (parseHTML(html) as unknown as { document: PageDocument }).document;
}

/**
 * Visits the nodes below `root` in order, without recursion: pages nest as deep as their authors like. `enter` says
 * whether to go into an element; `leave` is called for each that was gone into.
 */
export function walkNodes(
  root: PageNode,
  enter: (node: PageNode) => boolean,
  leave: (element: PageElement) => void = () => undefined,
): void {
  let node: PageNode | null = root.firstChild;
  while (node !== null) {
    const goesIn: boolean = enter(node) && isElement(node);
    let next: PageNode | null = goesIn ? node.firstChild : null;
    if (next === null) {
      if (goesIn) leave(node as PageElement);
      next = node.nextSibling;
      while (next === null) {
        node = node?.parentNode ?? null;
        if (node === null || node === root) return;
        leave(node as PageElement);
        next = node.nextSibling;
      }
    }
    node = next;
  }
}

/** How many elements stand within each other at the deepest place. */
export function measureDepth(root: PageNode): number {
  let depth = 0;
  let deepest = 0;
  const enter = (node: PageNode): boolean => {
    if (isElement(node)) deepest = Math.max(deepest, ++depth);
    return true;
  };
  walkNodes(root, enter, () => depth--);
  return deepest;
}
